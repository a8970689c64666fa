#include "harness/runner/executors/local_executor.h"

#include <algorithm>
#include <set>

#include "tests/runner/executor_contract.h"
#include "tests/runner/fake_worker.h"

namespace hyfreedp::runner {
namespace local_executor_test {

using ::testing::HasSubstr;

// Its workers are looked at often enough for a test.
LocalOptions watched(int slots) {
  auto options = fake_options(slots);
  options.watch = std::chrono::milliseconds(20);
  return options;
}

INSTANTIATE_TEST_SUITE_P(Local, ExecutorContract,
                         ::testing::Values(NamedFactory{
                             "local",
                             [](int slots) { return std::make_unique<LocalExecutor>(watched(slots)); },
                             [](int slots, double memory) {
                               auto options = watched(slots);
                               options.memory = memory;
                               return std::make_unique<LocalExecutor>(options);
                             }}),
                         [](const auto& instance) { return instance.param.name; });

// Waits until poll() says why nothing can run.
std::string failure_of(Executor& executor) {
  for (int i = 0; i < 200; ++i) {
    const auto updates = executor.poll(std::chrono::milliseconds(50));
    if (!updates) return updates.error().message;
  }
  return "none";
}

TEST(LocalExecutor, AnAbsentWorkerIsAnError) {
  auto options = fake_options(2);
  options.worker = "/nowhere/hyfreedp-worker";
  LocalExecutor executor(options);
  executor.submit(fake_job("a"));
  EXPECT_THAT(failure_of(executor), HasSubstr("/nowhere/hyfreedp-worker"));
}

TEST(LocalExecutor, AWorkerThatNeverStartsIsAnErrorWithItsWords) {
  LocalExecutor executor(fake_options(2, "dies-at-once"));
  executor.submit(fake_job("a"));
  const auto failure = failure_of(executor);
  EXPECT_THAT(failure, HasSubstr("cannot start"));
  EXPECT_THAT(failure, HasSubstr("libtorch_cpu.so"));
}

TEST(LocalExecutor, AnotherProtocolIsAnError) {
  LocalExecutor executor(fake_options(1, "old"));
  executor.submit(fake_job("a"));
  EXPECT_THAT(failure_of(executor), HasSubstr("version 0 of the worker protocol"));
}

TEST(LocalExecutor, WorkersThatAlwaysDieAreNotReplacedForEver) {
  LocalExecutor executor(fake_options(2));
  for (int i = 0; i < 50; ++i) executor.submit(fake_job("job-" + std::to_string(i), "kill"));
  EXPECT_THAT(failure_of(executor), HasSubstr("times in a row"));
}

TEST(LocalExecutor, OneThreadEach) {
  LocalExecutor executor(fake_options(1));
  executor.submit(fake_job("a", "environment"));
  EXPECT_EQ(ends_of(poll_until(executor, 1)).at("a").message,
            "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE ");
}

bool wait_for_start(Executor& executor) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto updates = executor.poll(std::chrono::milliseconds(50));
    if (!updates) return false;
    if (std::ranges::any_of(*updates,
                            [](const auto& update) { return update.kind == Update::Kind::started; }))
      return true;
  }
  return false;
}

TEST(LocalExecutor, AWorkerThatWillNotStopIsKilled) {
  LocalExecutor executor(fake_options(1, "stubborn"));
  executor.submit(fake_job("a", "finish", 60000));
  ASSERT_TRUE(wait_for_start(executor));
  const auto begin = std::chrono::steady_clock::now();
  executor.stop();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, std::chrono::milliseconds(300));
  EXPECT_LT(took, std::chrono::seconds(10));
}

// One job of each kind of hang, beside one that is slow and says that it works.
TEST(LocalExecutor, AHangTakesOneJob) {
  auto options = watched(2);
  options.hang_limit = std::chrono::milliseconds(600);
  LocalExecutor executor(options);
  executor.submit(fake_job("stopped", "stopped", 60000, 9));
  executor.submit(fake_job("stands still", "stands-still", 60000, 9));
  executor.submit(fake_job("silent", "finish", 60000, 9));
  executor.submit(fake_job("slow", "beats", 2000, 8));
  executor.submit(fake_job("quick"));
  const auto ends = ends_of(poll_until(executor, 5));
  for (const char* job : {"stopped", "stands still", "silent"}) {
    EXPECT_EQ(ends.at(job).failure_kind, kHung) << job;
    EXPECT_THAT(ends.at(job).message, HasSubstr("no progress for 600 ms")) << job;
  }
  EXPECT_FALSE(ends.at("slow").failed) << ends.at("slow").message;
  EXPECT_FALSE(ends.at("quick").failed) << ends.at("quick").message;
}

TEST(LocalExecutor, AnIdleWorkerDoesNotHang) {
  auto options = watched(1);
  options.hang_limit = std::chrono::milliseconds(200);
  LocalExecutor executor(options);
  executor.submit(fake_job("first"));
  poll_until(executor, 1);
  EXPECT_TRUE(executor.poll(std::chrono::milliseconds(600)).value().empty());
  executor.submit(fake_job("second"));
  EXPECT_FALSE(ends_of(poll_until(executor, 1)).at("second").failed);
}

// More than eight in a row, which no limit of losses may take for workers that cannot run.
TEST(LocalExecutor, AWorkerBeyondItsMemoryTakesItsJobAlone) {
  auto options = watched(2);
  options.memory_limit = 100e6;
  LocalExecutor executor(options);
  for (int i = 0; i < 9; ++i) executor.submit(fake_job("large " + std::to_string(i), "grows", 0, 9));
  executor.submit(fake_job("small"));
  for (const auto& [job, end] : ends_of(poll_until(executor, 10))) {
    if (job == "small") {
      EXPECT_FALSE(end.failed) << end.message;
      continue;
    }
    EXPECT_EQ(end.failure_kind, kOutOfMemory);
    EXPECT_THAT(end.message, HasSubstr("--memory-limit allows 100 MB"));
  }
}

TEST(LocalExecutor, WhatAJobTakesIsToldNowAndThen) {
  auto options = watched(1);
  options.use_interval = std::chrono::milliseconds(100);
  LocalExecutor executor(options);
  executor.submit(fake_job("a", "beats", 1000));
  const auto updates = poll_until(executor, 1);
  std::vector<Update> uses;
  for (const auto& update : updates) {
    if (update.kind == Update::Kind::use) uses.push_back(update);
  }
  ASSERT_GE(uses.size(), 3U);
  EXPECT_LE(uses.size(), 10U);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_EQ(uses[i].job, "a");
    EXPECT_GT(uses[i].resident_bytes, 1e6);
    EXPECT_EQ(uses[i].device_bytes, 7);
    EXPECT_GE(uses[i].cpu_seconds, 0);
    if (i > 0) {
      EXPECT_GT(uses[i].seconds, uses[i - 1].seconds);
    }
  }
  EXPECT_GT(updates.back().resident_bytes, 1e6);
}

TEST(LocalExecutor, WorkersStartOnlyForWork) {
  LocalExecutor executor(fake_options(4, "dies-at-once"));
  EXPECT_TRUE(executor.poll(std::chrono::milliseconds(300)).value().empty());
}

TEST(LocalExecutor, BothSlotsWork) {
  LocalExecutor executor(fake_options(2));
  for (int i = 0; i < 6; ++i) executor.submit(fake_job("job-" + std::to_string(i), "finish", 100));
  std::set<int> slots;
  for (const auto& update : poll_until(executor, 6)) slots.insert(update.slot);
  EXPECT_EQ(slots, (std::set<int>{0, 1}));
}

}  // namespace local_executor_test
}  // namespace hyfreedp::runner
