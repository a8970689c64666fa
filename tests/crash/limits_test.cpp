// Workers that hang, take too long or too much memory cost their own run and nothing else, and a
// wall clock that jumps costs nothing: the rows are in the end those of an undisturbed run.
#include <cmath>
#include <cstdlib>

#include "harness/base/text.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace limits_test {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Some seconds of training a row on one core, in steps of a millisecond.
constexpr const char* kSpec = R"(name: limits
title: under limits
noise_seed: limits-1
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: mlp
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.05, steps: 3000, optimizer: adamw}
    evaluate: {every: 1500}
    rows:
      - {method: hyfreedp-plus}
      - {method: dpadamwosm}
)";

class Limits : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    draw_no_pictures();
    spec_ = write("limits.yaml", kSpec);
  }

  std::vector<std::string> command(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run", spec_, "--out", out, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void expect_rows_of_an_undisturbed_run(const std::string& out) {
    static std::string undisturbed;  // one for all tests
    if (undisturbed.empty()) {
      const auto clean = run(command("clean"));
      ASSERT_EQ(clean.code, 0) << clean.out << clean.err;
      undisturbed = rows("limits", "clean");
    }
    EXPECT_EQ(rows("limits", out), undisturbed);
    EXPECT_FALSE(fs::exists(folder_ / out / "checkpoints"));
  }

  // Of all journals of a folder.
  std::string journals(const std::string& out) {
    std::string text;
    for (const auto& entry : fs::directory_iterator(folder_ / out / "journals")) {
      if (entry.path().extension() == ".jsonl") text += read_file(entry.path().string()).value();
    }
    return text;
  }

  std::string spec_;
};

TEST_F(Limits, AHangTakesOneRunAndTheNextContinuesIt) {
  auto running = start(command("out", {"--hang-minutes", "0.05", "--checkpoint-minutes", "0.001"}));
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 60000 || !running.is_running(); }));
  if (!running.is_running()) {
    const auto over = running.wait();
    FAIL() << "it ended with " << over.code << ": " << over.out << over.err;
  }
  const auto workers = running.workers();
  ASSERT_EQ(workers.size(), 2U);
  ::kill(workers.front(), SIGSTOP);
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("(hung). Its worker showed no progress for 3.0 s"));
  EXPECT_EQ(run(command("out")).code, 0);
  EXPECT_THAT(journals("out"), HasSubstr("\"from\":"));
  expect_rows_of_an_undisturbed_run("out");
}

// The process lives and says so, but its training comes to no end: a deadlock, an endless loop.
TEST_F(Limits, TrainingThatHangsIsFound) {
  const auto planted = std::string(HYFREEDP_BIN_DIR) + "/hyfreedp-worker-planted";
  if (!fs::exists(planted)) GTEST_SKIP() << "SKIPPED: " << planted << " is not built here";
  const auto file = (folder_ / "hang").string();
  ::setenv("HYFREEDP_WORKER", planted.c_str(), 1);
  ::setenv("HYFREEDP_HANG", file.c_str(), 1);
  std::vector<const char*> ways = {"loops"};
  if (std::getenv("HYFREEDP_SLOW") != nullptr) ways.push_back("waits");
  for (const char* how : ways) {
    SCOPED_TRACE(how);
    ::setenv("HYFREEDP_PLANT", how, 1);
    write("hang", "");
    const auto ended = run(command(how, {"--hang-minutes", "0.05"}));
    EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(": hung. "));
    EXPECT_FALSE(fs::exists(file));
    EXPECT_EQ(run(command(how)).code, 0);
    expect_rows_of_an_undisturbed_run(how);
  }
  for (const char* name : {"HYFREEDP_WORKER", "HYFREEDP_HANG", "HYFREEDP_PLANT"}) ::unsetenv(name);
}

// As Ctrl-Z and `fg` do, for longer than a worker may be silent.
TEST_F(Limits, ACoordinatorThatStoodStillKillsNobody) {
  auto running = start(command("out", {"--hang-minutes", "0.06", "--time-limit", "0.6"}));
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 20000 || !running.is_running(); }));
  ASSERT_TRUE(running.is_running());
  running.pause();
  ::kill(running.id(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(4500));
  ::kill(running.id(), SIGCONT);
  running.resume();
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  expect_rows_of_an_undisturbed_run("out");
}

TEST_F(Limits, ARunBeyondItsTimeGoesOnWithTheNextCommand) {
  int times = 0;
  // A fast machine needs a shorter limit.
  for (const auto& [minutes, told] : {std::pair{"0.02", "1.2 s"}, {"0.01", "600 ms"}, {"0.005", "300 ms"}}) {
    if (times > 1) break;
    fs::remove_all(folder_ / "out");
    times = 0;
    for (Ended ended{.code = 1}; ended.code != 0 && times < 60; ++times) {
      ended = run(command("out", {"--time-limit", minutes}));
      ASSERT_THAT(ended.code, AnyOf(0, 1)) << ended.out << ended.err;
      if (ended.code == 1) {
        EXPECT_THAT(ended.out, HasSubstr(std::string("(over-time). It was stopped after ") + told));
      }
    }
  }
  EXPECT_GT(times, 1) << "no run reached its limit";
  EXPECT_LT(times, 60);
  EXPECT_THAT(journals("out"), HasSubstr("\"from\":"));
  EXPECT_THAT(journals("out"), Not(HasSubstr("\"attempt\":1,")));
  expect_rows_of_an_undisturbed_run("out");
}

TEST_F(Limits, AWorkerBeyondItsMemoryIsNamed) {
  const auto ended = run(command("out", {"--memory-limit", "0.01"}));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("(out-of-memory). Its worker had "));
  EXPECT_THAT(ended.out, HasSubstr("--memory-limit allows 10 MB"));
#endif
  EXPECT_EQ(run(command("out")).code, 0);
  expect_rows_of_an_undisturbed_run("out");
}

TEST_F(Limits, AWallClockThatJumpsChangesNothing) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's library has to be loaded first";
#endif
  ::setenv("LD_PRELOAD", HYFREEDP_JUMPING_CLOCK, 1);
  auto running = start(command("out", {"--checkpoint-minutes", "0.001", "--hang-minutes", "0.1"}));
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 60000 || !running.is_running(); }));
  running.interrupt();
  EXPECT_EQ(running.wait().code, 130);
  const auto ended = run(command("out", {"--checkpoint-minutes", "0.001", "--hang-minutes", "0.1"}));
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const auto text = journals("out");
  EXPECT_THAT(text, HasSubstr("\"from\":"));
  const std::string key = "\"unix_time\":";
  std::size_t jumped = 0;
  for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const auto told = std::stoll(text.substr(at + key.size()));
    if (std::llabs(told - static_cast<long long>(::time(nullptr))) > 86400) ++jumped;
  }
  EXPECT_GT(jumped, 2U) << "the clock did not jump";
  expect_rows_of_an_undisturbed_run("out");
}

}  // namespace limits_test
}  // namespace hyfreedp::end_to_end
