// A run that is stopped and goes on, as often as a test likes, and configs whose states differ.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/training/checkpoint.h"
#include "harness/trial/event_tally.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {

// A trial with its files, which a test runs as often as it likes.
class Resumable {
 public:
  explicit Resumable(trial::TrialConfig config) : Resumable(config, data_of(config)) {}
  Resumable(trial::TrialConfig config, datasets::Dataset data)
      : config_(std::move(config)), data_(std::move(data)) {}

  std::string journal_path() const { return folder_.file("journal"); }
  std::string checkpoints() const { return folder_.file("checkpoints"); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints(), absent)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  // Until `steps` of this run are done, of which the checkpoint is, and one more; or to its end.
  // `interval`: seconds between checkpoints.
  TrainingEnd run(std::int64_t steps = -1, double interval = 0) {
    done_ = 0;
    return run_until([&] { return steps >= 0 && done_ >= steps; }, interval);
  }
  // Until `stop_asked`.
  TrainingEnd run_until(const std::function<bool()>& stop_asked, double interval = 0) {
    Checkpoints checkpoints(this->checkpoints(), config_.id(), std::chrono::duration<double>(interval));
    auto journal = mechanism::JournalWriter::open(journal_path(), config_, fingerprint_, {},
                                                  points_of(checkpoints.read()));
    EXPECT_TRUE(journal) << journal.error().message;
    from_ = (**journal).resumed_from().step;
    done_ = 0;
    const auto end = train({.config = config_,
                            .dataset = data_,
                            .key = seeded_key(config_),
                            .journal = **journal,
                            .stop_requested = stop_asked,
                            .progress = [&](std::int64_t, const Scalars&) { ++done_; },
                            .checkpoints = &checkpoints,
                            .weights_folder = weights_});
    EXPECT_TRUE(end) << end.error().message;
    problem_ = checkpoints.problem();
    return *end;
  }
  mechanism::Journal journal() const { return mechanism::read_journal(journal_path()).value(); }

  trial::TrialConfig config_;
  datasets::Dataset data_;
  json::object fingerprint_ = fingerprint("cpu");
  std::int64_t from_ = 0;  // where the last run began
  std::int64_t done_ = 0;  // steps that it did
  std::string problem_;
  std::string weights_;

 private:
  TemporaryFolder folder_;
};

inline mechanism::Journal undisturbed(const trial::TrialConfig& config) {
  Resumable whole(config);
  const auto finish = whole.run().finish;
  EXPECT_EQ(finish.state, trial::TrialState::finished) << finish.message;
  return whole.journal();
}

inline json::value events_of(const mechanism::Journal& journal) {
  return accounting::events_to_json({.events = journal.executed});
}

inline bool are_same(const std::vector<accounting::Event>& left,
                     const std::vector<accounting::Event>& right) {
  const trial::EventTally a(left), b(right);
  return a.contains(b) && b.contains(a);
}

// What a checkpoint has to hold beside the rules' own state.
inline std::vector<trial::TrialConfig> every_state() {
  auto configs = every_rule();
  for (const auto average : {trial::Average::ema, trial::Average::swa}) {
    configs.push_back(small_config());
    configs.back().training.average = average;
    if (average == trial::Average::ema) configs.back().training.average_decay = 0.9;
  }
  configs.push_back(small_config());
  configs.back().privacy.clipping.rule = trial::ClippingRule::adaptive;
  configs.back().privacy.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = 10};
  configs.push_back(small_config());
  configs.back().privacy.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  configs.push_back(probing_config(true));
  configs.back().evaluation.recorded.released_norms = true;
  configs.back().evaluation.recorded.noise_residual = true;
  configs.back().evaluation.recorded.raw_losses = true;
  configs.back().evaluation.recorded.training_split = true;
  configs.back().evaluation.recorded.distance = true;
  configs.push_back(small_config());
  configs.back().optimizer = optimizer_named("sgd", {{"momentum", 0.9}, {"free_step", true}});
  configs.push_back(zeroth_order_config(12, {{"momentum", 0.9}, {"direction", "sphere"}}));
  configs.back().evaluation.recorded.released_norms = true;
  configs.back().evaluation.recorded.noise_residual = true;
  configs.push_back(small_config());
  configs.back().evaluation.score = trial::ScoreRelease{.noise_counts = 5};
  for (auto& config : configs) config.evaluation.every = 4;
  return configs;
}

}  // namespace hyfreedp::training
