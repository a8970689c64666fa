#include "harness/runner/execute/coordinator.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sstream>

#include "harness/random/key_file.h"
#include "results/provenance/export.h"
#include "results/table/table_model.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/tiny_spec.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::runner {
namespace coordinator_test {

namespace fs = std::filesystem;
using namespace tiny;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

double rate_of(const trial::TrialConfig& config) { return double_or(config.controller.options, "lr", 0); }
bool is_private_at(const trial::TrialConfig& config, double rate) {
  return config.privacy.is_private && config.seed == 0 && rate_of(config) == rate;
}

TEST(Coordinator, SharedTrialsRunOnce) {
  World world;
  FakeExecutor executor;
  const auto report = world.run(kSeeded, executor);
  EXPECT_EQ(report.studies, kStudies);
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_FALSE(report.failed_unexpectedly());
  EXPECT_THAT(executor.submitted, SizeIs(kTrials));
  EXPECT_THAT(std::set<std::string>(executor.submitted.begin(), executor.submitted.end()), SizeIs(kTrials));
  EXPECT_THAT(executor.prepared, SizeIs(1));
  for (const auto& study : world.store().studies("tiny").value()) {
    EXPECT_EQ(study.state, results::StudyState::concluded);
    EXPECT_FALSE(study.reported_trial.empty());
    EXPECT_EQ(study.total.has_value(), study.epsilon_target.has_value());
    EXPECT_EQ(study.training.has_value(), study.epsilon_target.has_value());
  }
}

TEST(Coordinator, RowsDoNotDependOnTheOrderOfEnds) {
  std::vector<std::vector<std::string>> rows;
  for (const auto order : {Order::first_in, Order::last_in, Order::shuffled}) {
    World world;
    FakeExecutor executor;
    executor.order = order;
    world.run(kSeeded, executor);
    rows.push_back(world.rows("tiny"));
  }
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
}

// Test accuracies turned upside down change no method's runs, and not which run it reports.
TEST(Coordinator, NoMethodReadsTheTestSplit) {
  std::string spec =
      "name: every\ntitle: every\nnoise_seed: s\npanels:\n  - id: small\n"
      "    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}\n"
      "    model: linear\n    seeds: [0]\n    epsilon: [3]\n    delta: N^-1.1\n"
      "    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}\n    rows:\n";
  for (const auto& method : baselines::registry()) {
    // Its default is dozens of runs.
    const bool is_long = method.name == "dpsgd" || method.name == "dpmomentum" || method.name == "dp-zo";
    spec +=
        fmt::format("      - {{method: {}{}}}\n", method.name, is_long ? ", options: {mean_runs: 3}" : "");
  }
  spec +=
      "      - {id: unpriced, method: linear-scaling, options: {score: train-unpriced, fit: quadratic}}\n";
  std::vector<std::vector<std::string>> studies;
  for (const double shift : {0.0, 2.0}) {
    World world;
    FakeExecutor executor;
    executor.test_shift = shift;
    world.run(spec, executor);
    studies.emplace_back();
    for (auto study : world.store().studies("every").value()) {
      study.seconds = 0;
      studies.back().push_back(canonical_json(as_json(study)));
    }
  }
  EXPECT_GE(studies[0].size(), baselines::registry().size());
  EXPECT_EQ(studies[0], studies[1]);
}

TEST(Coordinator, EpsilonIsThatOfExecutedEvents) {
  World world;
  FakeExecutor executor;
  world.run(kSeeded, executor);
  for (const auto& study : world.store().studies("tiny").value()) {
    if (!study.epsilon_target) continue;
    const auto trial = world.store().trial(study.reported_trial).value().value();
    ASSERT_THAT(trial.events, ::testing::Not(IsEmpty()));
    const auto answer = accounting::report_epsilon({.events = trial.events}, study.delta).value();
    EXPECT_EQ(study.total->epsilon, answer.epsilon);
    EXPECT_LE(answer.epsilon, 3.0);
    EXPECT_GT(answer.epsilon, 2.9);
  }
}

TEST(Coordinator, ASecondRunDoesNothing) {
  World world;
  FakeExecutor first;
  world.run(kSeeded, first);
  const auto rows = world.rows("tiny");
  FakeExecutor second;
  const auto report = world.run(kSeeded, second);
  EXPECT_EQ(report.known_before, kStudies);
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_THAT(second.prepared, IsEmpty());
  EXPECT_EQ(world.rows("tiny"), rows);
}

TEST(Coordinator, JournalsRebuildALostDatabase) {
  World world;
  FakeExecutor first;
  world.run(kUnseeded, first);
  const auto rows = world.rows("tiny");
  world.forget_database();
  FakeExecutor second;
  const auto report = world.run(kUnseeded, second);
  EXPECT_EQ(report.known_before, kStudies);
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_EQ(world.rows("tiny"), rows);
}

// A killed run fails the rows that need it for this time only, and is charged what it booked
// meanwhile.
TEST(Coordinator, ALostTrialIsTriedAgainByTheNextRun) {
  World clean;
  FakeExecutor undisturbed;
  clean.run(kSeeded, undisturbed);

  World world;
  FakeExecutor executor;
  executor.fate = [](const auto& config) { return is_private_at(config, 0.01) ? Fate::kill : Fate::finish; };
  const auto report = world.run(kSeeded, executor);
  EXPECT_TRUE(report.failed_unexpectedly());
  ASSERT_THAT(report.failed, SizeIs(2));  // narrow and wide
  for (const auto& study : report.failed) {
    EXPECT_EQ(study.kind, "killed");
    EXPECT_TRUE(study.unexpected);
  }
  const auto killed = *std::find_if(
      executor.submitted.begin(), executor.submitted.end(),
      [&](const auto& id) { return world.store().trial(id).value()->state == trial::TrialState::failed; });
  EXPECT_THAT(world.store().trial(killed).value()->events, ::testing::Not(IsEmpty()));

  // Finished trials of a study that has no row yet are known from the database alone.
  for (const auto& entry : std::filesystem::directory_iterator(world.out().journals())) {
    if (entry.path() != world.out().journal(killed)) std::filesystem::remove(entry);
  }
  FakeExecutor again;
  const auto second = world.run(kSeeded, again);
  EXPECT_THAT(again.submitted, ::testing::ElementsAre(killed));
  EXPECT_EQ(second.known_before, kStudies - 2);
  EXPECT_FALSE(second.failed_unexpectedly());
  EXPECT_EQ(world.rows("tiny"), clean.rows("tiny"));
}

// Divergence is an answer: the grid picks another rate, and a row without any is a typed failure.
TEST(Coordinator, ADivergedTrialIsAnAnswer) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto& config) {
    return config.privacy.is_private && rate_of(config) != 0.01 ? Fate::diverge : Fate::finish;
  };
  const auto report = world.run(kSeeded, executor);
  EXPECT_FALSE(report.failed_unexpectedly());
  ASSERT_THAT(report.failed, SizeIs(2));  // the fixed rate, two seeds
  EXPECT_EQ(report.failed[0].kind, "diverged");
  EXPECT_FALSE(report.failed[0].unexpected);
  for (const auto& study : world.store().studies("tiny").value()) {
    if (!study.epsilon_target || study.row == "fixed") continue;
    const auto trial = world.store().trial(study.reported_trial).value().value();
    EXPECT_EQ(rate_of(trial::TrialConfig::from_json(trial.config, "").value()), 0.01);
  }
  // Without journals, too: the database alone knows the answers, the failures among them.
  std::filesystem::remove_all(world.out().journals());
  FakeExecutor again;
  const auto second = world.run(kSeeded, again);
  EXPECT_THAT(second.failed, SizeIs(2));
  EXPECT_EQ(second.known_before, kStudies);
  EXPECT_FALSE(second.failed_unexpectedly());
  EXPECT_THAT(again.submitted, IsEmpty());
}

// Private selection is private only while the number of its runs is hidden.
TEST(Coordinator, DrawsOfAnUnseededSpecComeFromAKeyThatIsGoneAtTheEnd) {
  const std::string rows = R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1, 2]
    epsilon: [8]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {method: dp-hyper, options: {mean_runs: 20, score_noise: 300}}
)";
  std::set<std::size_t> counts;
  for (int run = 0; run < 3; ++run) {
    World world;
    FakeExecutor executor;
    bool key_seen = false;
    executor.fate = [&](const auto&) {
      key_seen = std::filesystem::exists(world.out().draw_key("hidden"));
      return Fate::finish;
    };
    const auto report = world.run("name: hidden\ntitle: hidden\n" + rows, executor);
    EXPECT_THAT(report.failed, IsEmpty());
    EXPECT_TRUE(key_seen);
    EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("hidden")));
    counts.insert(executor.submitted.size());
    for (const auto& study : world.store().studies("hidden").value()) EXPECT_THAT(study.flags, IsEmpty());
  }
  // Three sums of three geometric counts with mean 20: all equal with probability below 1e-3.
  EXPECT_GT(counts.size(), 1U);
}

constexpr const char* kSelection = R"(
name: selection
title: selection
noise_seed: s
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0]
    epsilon: [8]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [{method: dp-hyper, options: {runs: poisson, mean_runs: 20, score_noise: 300}}]
)";

// Whichever run is lost, nothing public tells how many there were, nor which; the next run of the
// spec completes it.
TEST(Coordinator, ALostRunOfAPrivateSelectionStaysConfidential) {
  World clean;
  FakeExecutor undisturbed;
  clean.run(kSelection, undisturbed);
  const auto winner = clean.store().studies("selection").value().at(0).reported_trial;
  ASSERT_GT(undisturbed.submitted.size(), 3U);
  const auto loser =
      *std::ranges::find_if(undisturbed.submitted, [&](const auto& id) { return id != winner; });

  for (const auto& killed : {winner, loser}) {
    World world;
    FakeExecutor executor;
    executor.fate = [&](const auto& config) { return config.id() == killed ? Fate::kill : Fate::finish; };
    EXPECT_TRUE(world.run(kSelection, executor).failed_unexpectedly());
    const auto lost = world.store().studies("selection").value().at(0);
    EXPECT_EQ(lost.state, results::StudyState::failed);
    EXPECT_EQ(lost.failure_kind, "killed");
    EXPECT_FALSE(lost.composition.shows_run_count());
    EXPECT_THAT(lost.trials, IsEmpty());
    EXPECT_EQ(lost.seconds, 0);
    EXPECT_FALSE(lost.total);
    const auto rows = results::export_rows(world.store(), "selection", {.times = true}).value();
    for (const auto& id : executor.submitted) {
      EXPECT_THAT(rows, ::testing::Not(HasSubstr(id)));
      EXPECT_FALSE(results::export_events(world.store(), id, false));
    }

    FakeExecutor again;
    again.machine = "another";
    EXPECT_FALSE(world.run(kSelection, again).failed_unexpectedly());
    EXPECT_THAT(again.submitted, ::testing::ElementsAre(killed));
    const auto study = world.store().studies("selection").value().at(0);
    EXPECT_EQ(study.reported_trial, winner);
    EXPECT_TRUE(study.total);
    ASSERT_GT(world.store().trial(killed).value()->attempts, 1);
    // Whichever it was: the price counts it, so the reader is told.
    EXPECT_EQ(
        std::ranges::count_if(study.flags, [](const auto& flag) { return flag.starts_with("interrupted"); }),
        1);
    EXPECT_TRUE(results::export_events(world.store(), winner, false));
    EXPECT_FALSE(results::export_events(world.store(), loser, false));
  }
}

// A typed failure of an unseeded spec is an answer too: drawing again would be a second release.
TEST(Coordinator, AFailedDrawIsNotDrawnAgain) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::diverge; };
  const std::string spec = R"(
name: failed
title: failed
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0]
    epsilon: [8]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [{method: dp-hyper, options: {mean_runs: 20, score_noise: 300}}]
)";
  EXPECT_THAT(world.run(spec, executor).failed, SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("failed")));
  FakeExecutor again;
  EXPECT_THAT(world.run(spec, again).failed, SizeIs(1));
  EXPECT_THAT(again.submitted, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("failed")));
}

TEST(Coordinator, StoppedAndContinuedGivesTheSameRows) {
  World clean;
  FakeExecutor undisturbed;
  clean.run(kSeeded, undisturbed);
  for (const std::size_t after : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{12}}) {
    World world;
    FakeExecutor executor;
    const auto report = world.run(kSeeded, executor, [&] { return executor.ended >= after; });
    EXPECT_TRUE(report.stopped);
    EXPECT_TRUE(executor.stopped);
    FakeExecutor again;
    EXPECT_FALSE(world.run(kSeeded, again).stopped);
    EXPECT_EQ(executor.ended + again.submitted.size(), kTrials);
    EXPECT_EQ(world.rows("tiny"), clean.rows("tiny")) << "stopped after " << after;
  }
}

TEST(Coordinator, AMissingDeviceHaltsTheRun) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::no_device; };
  const auto report = world.run(kSeeded, executor);
  ASSERT_TRUE(report.halt);
  EXPECT_EQ(*report.halt, "So it was.");
  EXPECT_EQ(executor.ended, 1U);
}

// The selecting rows of kRows, oracle and charged, with sets of ood_test.
constexpr const char* kShifted = R"(name: shifted
title: shifted
noise_seed: s
dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
ood_test:
  - {id: private_validation, dataset: {name: synthetic, classes: 3, features: 16, separation: 9.0}}
  - {id: other, dataset: {name: synthetic, classes: 3, features: 16, separation: 1.0}}
model: linear
seeds: [0, 1]
epsilon: [3]
train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
rows:
  - {method: nondp-gs, options: {grid: [1e-3, 1e-2, 1e-1]}}
  - {method: dp-hyper, options: {grid: [1e-3, 1e-2, 1e-1]}}
)";

TEST(Coordinator, NoMethodSelectsByAShiftSet) {
  World world;
  FakeExecutor executor;
  const auto report = world.run(kShifted, executor);
  ASSERT_THAT(report.failed, IsEmpty());
  EXPECT_THAT(executor.prepared, SizeIs(3)) << "the dataset and both sets";
  const auto validation = [&](const std::string& trial) {
    double value = -1;
    for (const auto& metric : world.store().metrics(trial, true).value()) {
      if (metric.split == "private_validation" && metric.name == "accuracy") value = metric.value;
    }
    return value;
  };
  std::size_t of_several = 0;
  for (const auto& study : world.store().studies("shifted").value()) {
    of_several += study.trials.size() > 1 ? 1 : 0;
    for (const auto& trial : study.trials) {
      EXPECT_LE(validation(trial), validation(study.reported_trial)) << study.method;
    }
  }
  EXPECT_GE(of_several, 2U);
}

TEST(Coordinator, UnpreparedDataHaltsTheRun) {
  World world;
  FakeExecutor executor;
  executor.prepare_fails = true;
  const auto report = world.run(kSeeded, executor);
  ASSERT_TRUE(report.halt);
  EXPECT_THAT(executor.submitted, IsEmpty());
}

// What a run says meanwhile and afterwards, for as many different numbers of runs as come up.
TEST(Coordinator, WhatIsSaidOfAPrivateSelectionDoesNotFollowItsNumberOfRuns) {
  const std::string rows = R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    evaluate: {every: 0}
    rows:
      - {method: dp-hyper, options: {mean_runs: 6, score_noise: 300, grid: [1e-2]}}
)";
  std::set<std::size_t> counts;
  std::set<std::string> said;
  for (int i = 0; i < 8; ++i) {
    World world;
    FakeExecutor executor;
    auto spec = world.read("name: hidden\ntitle: t\n" + rows);
    ASSERT_TRUE(enter_spec(world.store(), world.out(), spec, false, false));
    std::ostringstream out;
    Progress progress(out, Progress::Style::plain);
    const auto report =
        Coordinator(world.store(), executor, world.out(), progress).run(spec, [] { return false; }).value();
    EXPECT_TRUE(report.hides_times);
    counts.insert(executor.submitted.size());
    said.insert(out.str());
  }
  EXPECT_GT(counts.size(), 1U);
  EXPECT_THAT(said, SizeIs(1)) << *said.begin() << *said.rbegin();
  World seeded;
  FakeExecutor executor;
  // The sizes and times of files tell it, too.
  fs::create_directories(seeded.out().root);
  fs::permissions(seeded.out().root, fs::perms(0755));
  const auto mode = [&] { return static_cast<int>(fs::status(seeded.out().root).permissions()); };
  // Whoever has the noise seed knows the number.
  EXPECT_FALSE(seeded.run("name: hidden\ntitle: t\nnoise_seed: s\n" + rows, executor).hides_times);
  EXPECT_EQ(mode(), 0755);
  EXPECT_THAT(seeded.run("name: unseeded\ntitle: t\n" + rows, executor).closed_folder,
              HasSubstr("was open to other users and is its owner's alone now"));
  EXPECT_EQ(mode(), 0700);
}

// A spec that is changed while its run is half finished: what is there stays, and the unchanged
// spec completes it.
// Equal runs of one release are made once, and that is said; those of another spec's release answer
// no fresh one.
// Whoever holds a key can subtract the noise, so none outlives its use; but what may be continued
// keeps its own.
TEST(Coordinator, KeysLeftBehindAreDeletedOnceEveryRowIsThere) {
  World world;
  const auto leave = [&](const std::string& path) { ASSERT_TRUE(random::create_or_read_key(path)); };
  const auto draws = world.out().draw_key("tiny");
  const auto key = world.out().key("abandoned");
  FakeExecutor stopped;
  world.run(kUnseeded, stopped, [&] { return stopped.ended >= 3; });
  leave(key);
  write_file_atomically(world.out().journal("abandoned"), "a journal of version 0.6\n").value();
  FakeExecutor other;
  world.run("name: another\ntitle: another\nnoise_seed: s\n" + std::string(kRows), other);
  EXPECT_TRUE(std::filesystem::exists(draws)) << "'tiny' is not finished";
  EXPECT_TRUE(std::filesystem::exists(key)) << "'tiny' may go on with it";

  FakeExecutor fresh;
  world.run(
      world.read(kUnseeded), fresh, [] { return false; }, true);
  EXPECT_FALSE(std::filesystem::exists(draws));
  EXPECT_FALSE(std::filesystem::exists(key));

  FakeExecutor open;
  world.run("name: third\ntitle: third\nnoise_seed: s3\n" + std::string(kRows), open,
            [&] { return open.ended >= 1; });
  leave(draws);
  FakeExecutor again;
  EXPECT_EQ(world.run(kUnseeded, again).known_before, kStudies);
  EXPECT_FALSE(std::filesystem::exists(draws)) << "killed before it deleted the key of its draws";
}

}  // namespace coordinator_test
}  // namespace hyfreedp::runner
