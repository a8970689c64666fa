// kill -9 and Ctrl-C in the middle, then the same command again: the rows are those of an
// undisturbed run.
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace crash_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Runs long enough to be hit in the middle; a quarter of the trials at most can have ended by then.
std::string long_spec(const std::string& head) {
  return "name: long\ntitle: long runs\n" + head + R"(
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 600, optimizer: adamw}
    evaluate: {every: 200}
    rows:
      - {method: prodigy}
      - {method: hyfreedp-plus}
      - {method: nondp-gs, options: {grid: [1e-2, 1e-1]}}
)";
}

class Crash : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    draw_no_pictures();
    seeded_ = write("seeded.yaml", long_spec("noise_seed: crash-1\n"));
    unseeded_ = write("unseeded.yaml", long_spec(""));
  }

  // Started, and some dozens of steps in.
  Running start_and_wait(const std::string& spec, const std::string& out) {
    auto running = start({"run", spec, "--out", out, "--quiet"});
    EXPECT_TRUE(wait_for([&] { return journal_bytes(out) > 20000 || !running.is_running(); }));
    EXPECT_TRUE(running.is_running()) << "the run was over before it could be hit";
    return running;
  }

  std::string undisturbed_rows() {
    static std::string undisturbed;  // one for all tests
    if (undisturbed.empty()) {
      const auto ended = run({"run", seeded_, "--out", "clean", "--quiet"});
      EXPECT_EQ(ended.code, 0) << ended.err;
      undisturbed = rows("long", "clean");
    }
    return undisturbed;
  }

  std::string seeded_;
  std::string unseeded_;
};

TEST_F(Crash, AKilledWorkerLosesOneTrialForThisTime) {
  auto running = start_and_wait(seeded_, "out");
  const auto workers = running.workers();
  ASSERT_THAT(workers, Not(IsEmpty()));
  ::kill(workers.front(), SIGKILL);
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("killed by signal 9"));
  const auto again = run({"run", seeded_, "--quiet"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(rows("long"), undisturbed_rows());
}

TEST_F(Crash, AKilledCoordinatorTakesItsWorkersWithItAndIsContinued) {
  auto running = start_and_wait(seeded_, "out");
  const auto workers = running.workers();
  ASSERT_THAT(workers, Not(IsEmpty()));
  running.kill();
  EXPECT_EQ(running.wait().code, 128 + SIGKILL);
  EXPECT_TRUE(wait_for([&] {
    return std::none_of(workers.begin(), workers.end(), [](int worker) {
      std::ifstream file("/proc/" + std::to_string(worker) + "/stat");
      std::string text;
      std::getline(file, text);
      return !text.empty() && text.find(") Z") == std::string::npos;
    });
  })) << "a worker outlived its coordinator";
  const auto status = run({"status"});
  EXPECT_THAT(status.out, HasSubstr("Interrupted trials"));
  const auto again = run({"run", seeded_, "--quiet"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(rows("long"), undisturbed_rows());
}

TEST_F(Crash, CtrlCStopsCleanlyAndIsContinued) {
  auto running = start_and_wait(seeded_, "out");
  running.interrupt();
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 130) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("stopped; run the same command to continue"));
  EXPECT_FALSE(fs::exists(folder_ / "out/hyfreedp.sqlite-wal")) << "the database was not closed";
  const auto again = run({"run", seeded_, "--quiet"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(rows("long"), undisturbed_rows());
}

// An unseeded run goes on with the same key, so that its replay is the same release and is charged
// once.
TEST_F(Crash, AnUnseededRunKeepsItsKeyUntilItIsComplete) {
  auto running = start_and_wait(unseeded_, "out");
  running.kill();
  running.wait();
  std::size_t keys = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out/keys")) {
    ++keys;
    EXPECT_EQ(fs::status(entry).permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
  EXPECT_GT(keys, 0U);
  EXPECT_THAT(run({"status"}).out, HasSubstr("left behind"));
  const auto again = run({"run", unseeded_, "--quiet"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "out/keys"));
  EXPECT_THAT(rows("long"), Not(HasSubstr("interrupted")));
}

// Nothing else would tell what it released.
TEST_F(Crash, ARunWhoseJournalIsRemovedMeanwhileKeepsItsKey) {
  const auto spec = write("one.yaml", R"(name: one
title: one run
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: linear
    seeds: [0]
    epsilon: [3]
    train: {sample_rate: 0.1, steps: 1500, optimizer: adamw}
    rows: [{method: prodigy}]
)");
  auto running = start_and_wait(spec, "out");
  for (const auto& entry : fs::directory_iterator(folder_ / "out/journals")) {
    if (entry.path().extension() == ".jsonl") fs::remove(entry);
  }
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out + ended.err, HasSubstr("the journal was removed or replaced"));
  std::size_t keys = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out/keys")) {
    keys += entry.path().stem().extension() == ".draws" ? 0 : 1;
  }
  EXPECT_EQ(keys, 1U);
}

TEST_F(Crash, ASecondCoordinatorIsRefused) {
  auto running = start_and_wait(seeded_, "out");
  const auto second = run({"run", seeded_, "--quiet"});
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("process " + std::to_string(running.id())));
  EXPECT_THAT(run({"status"}).out, HasSubstr("Process " + std::to_string(running.id())));
  running.kill();
  running.wait();
}

}  // namespace crash_test
}  // namespace hyfreedp::end_to_end
