#include "harness/training/trainer.h"

#include <fstream>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace trainer_test {

using torch::Tensor;

mechanism::Journal journal_of(const trial::TrialConfig& config, const std::string& path) {
  const auto end = run_once(config, path);
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.kind << ": " << end.finish.message;
  return mechanism::read_journal(path).value();
}

trial::Finish failure_of(const trial::TrialConfig& config) {
  const TemporaryFolder folder;
  const auto end = run_once(config, folder.file("a.jsonl"));
  EXPECT_EQ(end.finish.state, trial::TrialState::failed);
  const auto journal = mechanism::read_journal(folder.file("a.jsonl")).value();
  EXPECT_EQ(journal.finish->kind, end.finish.kind);
  return end.finish;
}

std::int64_t charged_steps(const mechanism::Journal& journal) {
  std::int64_t steps = 0;
  for (const auto& event : journal.executed) steps += std::get<accounting::Batch>(event.what).count;
  return steps;
}

std::vector<trial::TrialConfig> every_kind_of_run() {
  auto configs = every_rule();
  configs.insert(configs.end(),
                 {small_config(), probing_config(false), probing_config(true), exact_config()});
  for (const auto& facts : models::model_facts()) {
    for (auto config : {small_config(2), exact_config(2)}) {
      use_example(config, facts);
      configs.push_back(config);
    }
  }
  auto full = small_config();
  full.privacy.sampler = trial::Sampler::full_batch;
  full.privacy.sample_rate = 1;
  full.privacy.batch_size = 600;
  configs.push_back(full);
  return configs;
}

TEST(Trainer, EveryRegisteredPartRunsAndIsTheSameTwice) {
  for (const auto& config : every_kind_of_run()) {
    SCOPED_TRACE(canonical_json(config.to_json()));
    const TemporaryFolder folder;
    const auto first = journal_of(config, folder.file("a.jsonl"));
    EXPECT_EQ(static_cast<std::int64_t>(first.steps.size()), config.steps);
    EXPECT_TRUE(std::isfinite(metric_of(first, "test", "loss")));
    expect_same_outcome(first, journal_of(config, folder.file("b.jsonl")));
  }
}

TEST(Trainer, SeedsAndRepetitionsDiffer) {
  const TemporaryFolder folder;
  const auto base = journal_of(small_config(), folder.file("a.jsonl"));
  auto config = small_config();
  config.repetition = 1;
  EXPECT_NE(hashes_of(base), hashes_of(journal_of(config, folder.file("b.jsonl"))));
  config = small_config();
  config.noise_seed = "others";
  EXPECT_NE(hashes_of(base), hashes_of(journal_of(config, folder.file("c.jsonl"))));
}

TEST(Trainer, LearnsWhatIsEasy) {
  const TemporaryFolder folder;
  EXPECT_GT(metric_of(journal_of(small_config(60), folder.file("a.jsonl")), "test", "accuracy"), 0.9);
}

// A run cut at a byte of its journal, as a kill -9 leaves it, ends with the bits of the undisturbed
// run.
TEST(Trainer, ResumesFromATornJournalToTheSameBits) {
  const TemporaryFolder folder;
  const auto config = probing_config(true);
  const auto whole = journal_of(config, folder.file("whole.jsonl"));
  const auto text = read_file(folder.file("whole.jsonl")).value();
  for (const double part : {0.2, 0.45, 0.7, 0.95}) {
    const auto path = folder.file("torn.jsonl");
    std::ofstream(path, std::ios::trunc)
        << text.substr(0, static_cast<std::size_t>(part * double(text.size())));
    const auto resumed = journal_of(config, path);
    EXPECT_EQ(resumed.attempt, 0);
    expect_same_outcome(resumed, whole);
    EXPECT_EQ(resumed.executed.size(), whole.executed.size());
  }
}

TEST(Trainer, EveryRegisteredRuleResumesToTheSameBitsAndBooksWhatItDid) {
  for (const auto& config : every_rule()) {
    SCOPED_TRACE(canonical_json(config.to_json()));
    const TemporaryFolder folder;
    const auto whole = journal_of(config, folder.file("whole.jsonl"));
    EXPECT_EQ(whole.executed.empty(), !config.privacy.is_private);
    const auto text = read_file(folder.file("whole.jsonl")).value();
    std::ofstream(folder.file("torn.jsonl")) << text.substr(0, text.size() * 6 / 10);
    ASSERT_FALSE(mechanism::read_journal(folder.file("torn.jsonl"))->finish.has_value());
    const auto resumed = journal_of(config, folder.file("torn.jsonl"));
    EXPECT_EQ(resumed.attempt, 0);
    expect_same_outcome(resumed, whole);
    EXPECT_EQ(accounting::events_to_json({.events = resumed.executed}),
              accounting::events_to_json({.events = whole.executed}));
  }
}

TEST(Trainer, StopLeavesAResumableJournal) {
  const TemporaryFolder folder;
  const auto config = small_config();
  int asked = 0;
  const auto stopped = run_once(config, folder.file("a.jsonl"), [&] { return ++asked > 5; });
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(mechanism::read_journal(folder.file("a.jsonl"))->finish.has_value());
  EXPECT_EQ(mechanism::read_journal(folder.file("a.jsonl"))->steps.size(), 5U);
  EXPECT_GE(charged_steps(mechanism::read_journal(folder.file("a.jsonl")).value()), 5);
  expect_same_outcome(journal_of(config, folder.file("a.jsonl")), journal_of(config, folder.file("b.jsonl")));
}

// A recorded hash that the replay does not reproduce: new noise from step 0 under the next attempt,
// as if that had been the only one, and both are charged.
TEST(Trainer, ReplayThatDiffersBecomesTheNextAttempt) {
  const TemporaryFolder folder;
  const auto config = small_config();
  const auto first = hashes_of(journal_of(config, folder.file("first.jsonl")));
  const auto path = folder.file("a.jsonl");
  {
    auto writer = mechanism::JournalWriter::open(path, config, fingerprint("cpu")).value();
    for (std::int64_t step = 0; step < 4; ++step) {
      ASSERT_TRUE(writer->ensure_booked(step));
      const auto hash = step < 3 ? first.at(static_cast<std::size_t>(step)) : "not what this machine makes";
      ASSERT_TRUE(writer->step({step, hash, {}}, {"gradient"}));
    }
  }
  const auto again = journal_of(config, path);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_EQ(again.steps.size(), 12U);
  EXPECT_EQ(charged_steps(again), 24);
  for (std::size_t step = 0; step < first.size(); ++step) EXPECT_NE(again.steps.at(step).hash, first[step]);

  const auto elsewhere = folder.file("elsewhere.jsonl");
  ASSERT_TRUE(mechanism::JournalWriter::open(elsewhere, config, {{"device", "another machine"}}));
  expect_same_outcome(again, journal_of(config, elsewhere));
}

// With no sample in the batch a release is its noise, which the key alone determines.
TEST(Trainer, EmptyBatchReleasesExactlyItsNoiseAndIsBooked) {
  const TemporaryFolder folder;
  auto config = probing_config(false);
  config.privacy.sample_rate = 1e-9;
  config.privacy.clipping.rule = trial::ClippingRule::abadi;
  config.privacy.clipping.constant = 0.5;
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  EXPECT_EQ(charged_steps(journal), 12);

  const auto key = seeded_key(config);
  for (const std::int64_t step : {0, 1}) {
    auto gradient = torch::zeros({27});
    const std::span<float> values(gradient.data_ptr<float>(), 27);
    random::add_normals(key, address_of(random::Purpose::gradient_noise, step, 0), 0, 1.1 * 0.5, values);
    gradient.div_(60);
    std::vector<double> losses;
    if (step == 0) {  // the first loss bound is 1
      losses.resize(3);
      random::fill_normals(key, address_of(random::Purpose::probe_noise, step, 0), 0, losses);
      for (auto& loss : losses) loss = 2.0 * loss / 60;
      EXPECT_EQ(journal.steps.at(0).scalars.at("private_loss"), losses[0]);
    }
    EXPECT_EQ(journal.steps.at(static_cast<std::size_t>(step)).hash, release_hash(gradient, losses)) << step;
  }
}

TEST(Trainer, ProbesSayWhatTheyReleased) {
  const TemporaryFolder folder;
  const auto journal = journal_of(probing_config(true), folder.file("a.jsonl"));
  for (const auto& record : journal.steps) {
    EXPECT_EQ(record.scalars.contains("private_loss"), record.step % 5 == 0) << record.step;
    EXPECT_EQ(record.scalars.contains("R_l"), record.step % 5 == 0) << record.step;
    ASSERT_EQ(record.scalars.contains("probe_loss.0"), record.step % 5 == 0) << record.step;
    if (record.step % 5 != 0) continue;
    EXPECT_EQ(record.scalars.at("probe_x.0"), 0) << record.step;
    EXPECT_EQ(record.scalars.at("probe_loss.0"), record.scalars.at("private_loss")) << record.step;
    EXPECT_EQ(record.scalars.at("probe_x.1"), -record.scalars.at("probe_x.2")) << record.step;
  }
  EXPECT_FALSE(journal.finish->counts.empty());
}

// The un-noised arm of a plan, probes at the gradient's batch, is HyFreeDP-free AdamW written with
// LibTorch's autograd.
TEST(Trainer, NonPrivateRunIsPlainAdamW) {
  const TemporaryFolder folder;
  auto config = exact_config(25);
  config.dtype = "float64";
  config.evaluation.every = 5;
  const auto journal = journal_of(config, folder.file("a.jsonl"));

  const auto dataset = data_of(config);
  const auto key = seeded_key(config);
  auto weight = torch::zeros({3, 8}, torch::kFloat64);
  auto bias = torch::zeros({3}, torch::kFloat64);
  Tensor first = torch::zeros({27}, torch::kFloat64), second = torch::zeros({27}, torch::kFloat64);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < config.steps; ++step) {
    const auto index = torch::tensor(gradient_rows(config.privacy, key, step, 0).indices);
    const auto x = dataset.private_train.features.index_select(0, index).to(torch::kFloat64);
    const auto y = dataset.private_train.labels.index_select(0, index);
    weight.requires_grad_(true);
    bias.requires_grad_(true);
    (at::nll_loss(at::log_softmax(at::linear(x, weight, bias), 1), y, {}, at::Reduction::Sum) / 60)
        .backward();
    const auto gradient = at::cat({weight.grad().reshape({-1}), bias.grad()});
    const auto before = at::cat({weight.detach().reshape({-1}), bias.detach()});
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    const double t = static_cast<double>(step + 1);
    const auto update = first / (1 - std::pow(0.9, t)) / ((second / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
    const auto after = before * (1 - 0.05 * 0.01) - 0.05 * update;
    weight = after.narrow(0, 0, 24).view({3, 8}).clone();
    bias = after.narrow(0, 24, 3).clone();
    if ((step + 1) % 5 != 0) continue;
    const auto logits = at::linear(dataset.test.features.to(torch::kFloat64), weight, bias);
    losses.push_back(at::nll_loss(at::log_softmax(logits, 1), dataset.test.labels).item<double>());
  }
  std::vector<double> recorded;
  for (const auto& metric : journal.metrics) {
    if (metric.name == "loss") recorded.push_back(metric.value);
  }
  ASSERT_EQ(recorded.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(recorded[i], losses[i], 1e-10 * losses[i]) << i;
}

TEST(Trainer, EvaluationIsWhatWasAskedForAndDeclared) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.evaluation = {.every = 5, .oracle_validation = true, .score = trial::ScoreRelease{20}};
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  std::vector<std::string> seen;
  for (const auto& metric : journal.metrics) {
    seen.push_back(std::to_string(metric.step) + " " + metric.split + " " + metric.name + " " +
                   name_of(metric.visibility));
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"5 test loss test", "5 test accuracy test", "10 test loss test",
                                      "10 test accuracy test", "12 test loss test", "12 test accuracy test",
                                      "12 private_validation accuracy confidential",
                                      "12 private_validation score released"}));
  const double exact = metric_of(journal, "private_validation", "accuracy");
  const double score = metric_of(journal, "private_validation", "score");
  EXPECT_NE(exact, score);
  EXPECT_LT(std::abs(exact - score), 6 * 20.0 / 200);
  ASSERT_EQ(journal.executed.size(), 2U);
  EXPECT_EQ(journal.executed[1].split, "private_validation");
  EXPECT_EQ(std::get<accounting::Batch>(journal.executed[1].what).releases.at(0).noise_multiplier, 20);
}

TEST(Trainer, TrainingAccuracyIsConfidentialAndNotPriced) {
  const TemporaryFolder folder;
  auto config = small_config();
  const auto plain = journal_of(config, folder.file("plain.jsonl"));
  config.evaluation.oracle_train = true;
  const auto journal = journal_of(config, folder.file("train.jsonl"));
  const double accuracy = metric_of(journal, "private_train", "accuracy");
  EXPECT_GT(accuracy, 0);
  EXPECT_LE(accuracy, 1);
  for (const auto& metric : journal.metrics) {
    if (metric.split == "private_train") {
      EXPECT_EQ(metric.visibility, trial::Visibility::confidential);
    }
  }
  EXPECT_EQ(journal.metrics.size(), plain.metrics.size() + 1);
  EXPECT_EQ(journal.executed.size(), plain.executed.size());
}

TEST(Trainer, DivergenceIsAFinishLine) {
  for (const double rate : {1e300, 3e38}) {  // no float, and one that takes the weights beyond them
    auto config = exact_config();
    config.optimizer = optimizer_named("sgd");
    config.controller = controller_named("constant", {{"lr", rate}});
    const auto finish = failure_of(config);
    EXPECT_EQ(finish.kind, "diverged");
    EXPECT_NE(finish.message.find("step"), std::string::npos);
  }
}

// The weights are numbers, what they give is not: the row says so.
TEST(Trainer, ATestLossThatIsNotFiniteIsNoted) {
  for (const bool is_finite : {true, false}) {
    const TemporaryFolder folder;
    const auto config = small_config();
    auto dataset = data_of(config);
    dataset.test.features = dataset.test.features.clone();
    if (!is_finite) dataset.test.features[3][0] = HUGE_VAL;
    auto journal = mechanism::JournalWriter::open(folder.file("a"), config, fingerprint(config.device));
    ASSERT_TRUE(journal) << journal.error().message;
    const auto end =
        train({.config = config, .dataset = dataset, .key = seeded_key(config), .journal = **journal});
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->finish.state, trial::TrialState::finished);
    const auto notes = mechanism::read_journal(folder.file("a")).value().finish->notes;
    EXPECT_EQ(notes.size(), is_finite ? 0U : 1U);
    EXPECT_EQ(end->finish.notes, notes);
    if (!is_finite) {
      EXPECT_EQ(notes, std::vector<std::string>{"test loss not finite"});
    }
  }
}

// The price of the whole run is charged, and no step is made from losses that say nothing.
TEST(Trainer, ReleasedLossesThatAreNotFiniteEndTheRun) {
  for (const double bound : {1e308, HUGE_VAL}) {
    auto config = probing_config(false);
    config.controller = controller_named("hyfreedp", {{"R_l0", number(bound)}});
    const auto finish = failure_of(config);
    EXPECT_EQ(finish.kind, "diverged") << bound;
    EXPECT_NE(finish.message.find("after step 0"), std::string::npos) << finish.message;
  }
}

TEST(Trainer, CudaIsRefusedWhereThereIsNone) {
  if (at::hasCUDA()) GTEST_SKIP() << "this machine has a GPU";
  auto config = small_config();
  config.device = "cuda";
  const auto finish = failure_of(config);
  EXPECT_EQ(finish.kind, "device-unavailable");
  EXPECT_NE(finish.message.find("GPU"), std::string::npos);
  EXPECT_NE(finish.message.find("device: cpu"), std::string::npos);
}

TEST(Trainer, ConfigsThatContradictThemselvesAreRefused) {
  const auto refused = [](const trial::TrialConfig& config, const std::string& says) {
    const auto finish = failure_of(config);
    EXPECT_EQ(finish.kind, "invalid-config");
    EXPECT_NE(finish.message.find(says), std::string::npos) << finish.message;
  };
  auto config = probing_config(true);
  config.controller = controller_named("hyfreedp", {{"interval", 4}});
  refused(config, "interval");
  config = probing_config(true);
  config.privacy.probe.reset();
  refused(config, "needs loss probes");
  config = small_config();
  config.privacy.probe = probe_plan(true);
  refused(config, "asks for no loss probes");
  config = small_config();
  config.privacy.population = 601;
  refused(config, "population");
  config = probing_config(true);
  config.optimizer = optimizer_named("prodigy");
  refused(config, "owns its step size");
  config = probing_config(true);
  config.controller = controller_named("gen");
  refused(config, "exact losses");
  config = small_config();
  config.dtype = "float8";
  refused(config, "float8");
  config = small_config();
  config.device = "tpu";
  refused(config, "tpu");
  config = small_config();
  config.model.name = "transformer";
  refused(config, "transformer");
}

TEST(Trainer, AProbesNumberOfLossesIsThePlans) {
  auto config = probing_config(true);
  config.privacy.probe->points = 5;
  const auto finish = failure_of(config);
  EXPECT_EQ(finish.kind, "invalid-config");
  EXPECT_NE(finish.message.find("has 5 losses a probe but controller 'hyfreedp' asks for 3"),
            std::string::npos)
      << finish.message;
  config.controller = controller_named("hyfreedp", {{"pairs", 2}});
  const auto run = journal_under_one_key(config);
  EXPECT_TRUE(run.steps.at(0).scalars.contains("probe_loss.4"));
}

}  // namespace trainer_test
}  // namespace hyfreedp::training
