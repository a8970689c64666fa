#include "harness/runner/executors/local_executor.h"

#include <algorithm>
#include <set>

#include "tests/runner/executor_contract.h"
#include "tests/runner/fake_worker.h"

namespace hyfreedp::runner {
namespace {

using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Local, ExecutorContract,
                         ::testing::Values(NamedFactory{
                             "local",
                             [](int slots) { return std::make_unique<LocalExecutor>(fake_options(slots)); }}),
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

}  // namespace
}  // namespace hyfreedp::runner
