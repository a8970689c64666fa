// Small runs on the generated dataset, for the tests of training.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "datasets/dataset.h"
#include "harness/mechanism/set_optimizer.h"
#include "harness/models/facts/facts.h"
#include "harness/training/fingerprint.h"
#include "harness/training/trainer.h"
#include "optimizers/facts.h"
#include "tests/training/releases.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::training {

using mechanism::address_of;
using mechanism::Rows;
using mechanism::run_key;
using mechanism::seeded_key;
using trial::TemporaryFolder;

template <class Found>
trial::Named resolved(const Found& facts, const std::string& name, const json::object& options) {
  return {name, resolve_options(facts.value()->options, options, name).value()};
}

inline trial::Named optimizer_named(const std::string& name, const json::object& options = {}) {
  return resolved(optimizers::find_optimizer(name), name, options);
}
inline trial::Named controller_named(const std::string& name, const json::object& options = {}) {
  return resolved(optimizers::find_controller(name), name, options);
}
inline trial::Named model_named(const std::string& name, const json::object& options = {}) {
  return resolved(models::find_model(name), name, options);
}

// 600 examples of 8 features in 3 classes, q = 0.1.
inline trial::TrialConfig small_config(std::int64_t steps = 12) {
  trial::TrialConfig config;
  config.dataset = resolved(datasets::find_dataset("synthetic"), "synthetic",
                            {{"train", 600}, {"validation", 200}, {"test", 200}, {"features", 8}});
  config.model = model_named("linear");
  config.optimizer = optimizer_named("adamw");
  config.controller = controller_named("constant", {{"lr", 0.05}});
  config.privacy.population = 600;
  config.privacy.batch_size = 60;
  config.privacy.sample_rate = 0.1;
  config.privacy.gradient_noise = 1.1;
  config.steps = steps;
  config.noise_seed = "tests";
  return config;
}

// The model's example on a dataset that suits it; it needs 600 training examples, as small_config
// has.
inline void use_example(trial::TrialConfig& config, const models::Facts& facts) {
  auto data = facts.example.dataset_options;
  data["train"] = 600;
  data["validation"] = data["test"] = 50;
  config.dataset = resolved(datasets::find_dataset(facts.example.dataset), facts.example.dataset, data);
  config.model = model_named(facts.name, facts.example.options);
}

inline trial::ProbePlan probe_plan(bool separate) {
  return {.separate_batch = separate,
          .sample_rate = separate ? 0.1 : 0.0,
          .batch_size = 60,
          .noise = 2.0,
          .points = 3,
          .interval = 5};
}

inline trial::TrialConfig probing_config(bool separate, std::int64_t steps = 12) {
  auto config = small_config(steps);
  config.controller = controller_named("hyfreedp", {{"eta0", 0.05}});
  config.privacy.probe = probe_plan(separate);
  return config;
}

inline trial::TrialConfig exact_config(std::int64_t steps = 12) {
  auto config = small_config(steps);
  config.privacy.is_private = false;
  config.privacy.clipping.rule = trial::ClippingRule::none;
  config.privacy.gradient_noise = 0;
  return config;
}

inline datasets::Dataset data_of(const trial::TrialConfig& config) {
  return datasets::load_dataset(config.dataset.name, config.dataset.options).value();
}

inline TrainingEnd run_once(
    const trial::TrialConfig& config, const std::string& path,
    std::function<bool()> stop = [] { return false; }) {
  auto journal = mechanism::JournalWriter::open(path, config, fingerprint(config.device));
  EXPECT_TRUE(journal) << journal.error().message;
  const auto dataset = data_of(config);
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = seeded_key(config),
                          .journal = **journal,
                          .stop_requested = std::move(stop)});
  EXPECT_TRUE(end) << end.error().message;
  return *end;
}

// The journal of a run under one key for all configs, so that runs differ by their configs alone.
inline mechanism::Journal journal_under_one_key(const trial::TrialConfig& config,
                                                const datasets::Dataset& dataset,
                                                mechanism::Observer* observer = nullptr) {
  const TemporaryFolder folder;
  {
    auto journal = mechanism::JournalWriter::open(folder.file("journal"), config, fingerprint(config.device));
    EXPECT_TRUE(journal) << journal.error().message;
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = random::key_from_seed("one key"),
                            .journal = **journal,
                            .observer = observer});
    EXPECT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->finish.state, trial::TrialState::finished) << end->finish.message;
  }
  return mechanism::read_journal(folder.file("journal")).value();
}
inline mechanism::Journal journal_under_one_key(const trial::TrialConfig& config,
                                                mechanism::Observer* observer = nullptr) {
  return journal_under_one_key(config, data_of(config), observer);
}

inline std::vector<std::string> hashes_of(const mechanism::Journal& journal) {
  std::vector<std::string> hashes;
  for (const auto& record : journal.steps) hashes.push_back(record.hash);
  return hashes;
}

inline double metric_of(const mechanism::Journal& journal, const std::string& split,
                        const std::string& name) {
  for (const auto& metric : journal.metrics) {
    if (metric.split == split && metric.name == name && metric.step == journal.config.steps)
      return metric.value;
  }
  ADD_FAILURE() << "no metric " << split << " " << name;
  return 0;
}

// Everything that a row shows, but for its time.
inline void expect_same_outcome(const mechanism::Journal& a, const mechanism::Journal& b) {
  EXPECT_EQ(hashes_of(a), hashes_of(b));
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i) EXPECT_EQ(as_json(a.metrics[i]), as_json(b.metrics[i]));
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) EXPECT_EQ(as_json(a.steps[i]), as_json(b.steps[i]));
  ASSERT_EQ(a.finish.has_value(), b.finish.has_value());
  if (!a.finish) return;
  EXPECT_EQ(a.finish->state, b.finish->state);
  EXPECT_EQ(a.finish->kind, b.finish->kind);
  EXPECT_EQ(a.finish->notes, b.finish->notes);
  EXPECT_EQ(a.finish->counts, b.finish->counts);
}

// Losses' changes are clipped to [-bound, bound].
inline void clip_changes(trial::TrialConfig& config, double bound) {
  config.privacy.clipping.rule = trial::ClippingRule::abadi;
  config.privacy.clipping.constant = bound;
}

inline trial::TrialConfig zeroth_order_config(std::int64_t steps = 12, const json::object& options = {}) {
  auto config = small_config(steps);
  mechanism::set_optimizer(config, optimizer_named("dp-zo", options));
  config.controller = controller_named("constant", {{"lr", 0.01}});
  clip_changes(config, 0.01);
  return config;
}

// Small runs with every registered optimizer and controller.
inline std::vector<trial::TrialConfig> every_rule() {
  std::vector<trial::TrialConfig> configs;
  for (const auto& facts : optimizers::optimizer_facts()) {
    auto config = small_config();
    mechanism::set_optimizer(config, optimizer_named(facts.name));
    if (facts.of_loss_changes) clip_changes(config, 0.5);
    if (facts.owns_step_size) config.controller = controller_named("constant", {{"lr", 1.0}});
    configs.push_back(config);
  }
  for (const auto& facts : optimizers::controller_facts()) {
    auto config = facts.non_private_only ? exact_config() : small_config();
    config.controller = controller_named(facts.name);
    if (facts.probes) {
      config.privacy.probe = probe_plan(true);
      if (facts.non_private_only) config.privacy.probe->noise = 0;
    }
    configs.push_back(config);
  }
  return configs;
}

}  // namespace hyfreedp::training
