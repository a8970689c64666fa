// What runs may take of the machine, as the executor hears it, and what they took, as the database
// keeps it.
#include <gmock/gmock.h>

#include "harness/runner/execute/run_memory.h"
#include "harness/runner/execute/system_log.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace run_use_test {

using ::testing::SizeIs;

constexpr const char* kTwoRuns = R"(name: tiny
title: tiny
noise_seed: s
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
      - {id: a, method: fixed-rate, options: {lr: 1e-1}}
      - {id: b, method: fixed-rate, options: {lr: 5e-2}}
)";

// To the step of run_system: the bytes follow realised batch sizes.
TEST(RunUse, PeaksAreRoundedUp) {
  World world;
  FakeExecutor executor;
  executor.peak_bytes = (std::int64_t{3} << 26) + 1;
  world.run(kTwoRuns, executor);
  for (const auto& trial : world.store().trials().value()) {
    EXPECT_EQ(trial.peak_bytes, std::int64_t{4} << 26);
    EXPECT_EQ(trial.device_peak_bytes, 0);
  }
}

// What the executor lets wait, and stops.
TEST(RunUse, JobsSayWhatTheyMayTake) {
  World world;
  FakeExecutor executor;
  auto spec = world.read(kTwoRuns);
  enter_spec(world.store(), world.out(), spec, false, false).value();
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  Coordinator coordinator(world.store(), executor, world.out(), progress);
  coordinator.limit_time(std::chrono::minutes(7));
  ASSERT_TRUE(coordinator.run(spec, [] { return false; }));
  EXPECT_THAT(executor.memory, SizeIs(2 + 1));
  for (const auto& [id, bytes] : executor.memory) {
    const auto trial = world.store().trial(id).value();
    EXPECT_GT(bytes, 1e8) << id;
    EXPECT_EQ(executor.time_limits[id].count(), trial ? 420 : 0) << id << ": preparing has no limit of time";
    if (!trial) continue;
    const auto config = trial::TrialConfig::from_json(trial->config, id).value();
    EXPECT_EQ(bytes, memory_of(config)->host);
  }
}

TEST(RunUse, WhatRunsTakeOverTimeIsKept) {
  World world;
  FakeExecutor executor;
  executor.uses = 2;
  executor.fate = [](const auto& config) {
    return double_or(config.controller.options, "lr", 0) == 0.1 ? Fate::kill : Fate::finish;
  };
  world.run(kTwoRuns, executor);
  for (const auto& id : executor.submitted) {
    const auto samples = world.store().system(id).value();
    ASSERT_GE(samples.size(), 2U);
    EXPECT_EQ(samples[0].seconds, 10);
    EXPECT_EQ(samples[0].cpu_share, 0.5);
    EXPECT_EQ(samples[1].resident_bytes, 100'000'002);
  }
  // A run that was lost has its next execution beside the first.
  executor.fate = [](const auto&) { return Fate::finish; };
  executor.submitted.clear();
  world.run(kTwoRuns, executor);
  ASSERT_THAT(executor.submitted, SizeIs(1));
  const auto samples = world.store().system(executor.submitted.front()).value();
  ASSERT_FALSE(samples.empty());
  EXPECT_EQ(samples.front().execution, 0);
  EXPECT_EQ(samples.back().execution, 1);
  EXPECT_EQ(samples.back().resident_bytes, 500'000'000);
}

TEST(SystemLog, ALongRunKeepsAsManySamplesOfItsWhole) {
  SystemLog log;
  constexpr int kUpdates = 10000;
  for (int i = 1; i <= kUpdates; ++i) {
    Update update;
    update.seconds = 10.0 * i;
    update.cpu_seconds = i <= kUpdates / 2 ? 10.0 * i : 5.0 * kUpdates + 2.5 * (i - kUpdates / 2) * 2;
    log.add(update);
  }
  Update over;
  over.seconds = 10.0 * kUpdates + 1;
  over.resident_bytes = 7;
  log.end(over);
  const auto samples = log.samples();
  EXPECT_LE(samples.size(), SystemLog::kMost + 1);
  EXPECT_GT(samples.size(), SystemLog::kMost / 3);
  EXPECT_EQ(samples.back().seconds, 10.0 * kUpdates + 1);
  EXPECT_EQ(samples.back().cpu_share, 0) << "never below";
  EXPECT_NEAR(samples.front().cpu_share, 1, 1e-9);
  EXPECT_NEAR(samples[samples.size() - 3].cpu_share, 0.5, 1e-9);
  EXPECT_LT(samples[0].seconds, 500);
}

}  // namespace run_use_test
}  // namespace hyfreedp::runner
