// A run that is watched from outside, that writes a log, and that tells of its end.
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace watch_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class WatchedProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    spec_ = write("watched.yaml", R"(
name: watched
title: one run that can be watched
noise_seed: watched
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: linear
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 4000, optimizer: adamw}
    evaluate: {every: 50}
    rows:
      - {method: hyfreedp-plus}
)");
  }

  std::vector<json::object> log() const {
    std::vector<json::object> lines;
    std::istringstream text(read_file((folder_ / "log.jsonl").string()).value());
    for (std::string line; std::getline(text, line);)
      lines.push_back(parse_json(line, "log").value().as_object());
    return lines;
  }

  std::string spec_;
};

TEST_F(WatchedProgram, IsSeenWhileItRunsAndTellsOfItsEnd) {
  auto running =
      start({"run", spec_, "--quiet", "--log", "log.jsonl", "--notify",
             "echo \"$HYFREEDP_SPEC $HYFREEDP_EXIT_CODE $HYFREEDP_OUT $HYFREEDP_SUMMARY\" > told; exit 3"});
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 30000 || !running.is_running(); }));
  running.pause();
  ASSERT_TRUE(running.is_running()) << running.wait().err;
  // The coordinator writes what it knows once a second.
  Ended seen;
  ASSERT_TRUE(wait_for([&] {
    seen = run({"watch", "--once"});
    return seen.out.find("step ") != std::string::npos || !running.is_running();
  }));
  running.resume();
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("watched: training  0/1 runs, 0/1 studies"));
  EXPECT_THAT(seen.out, HasSubstr("small, hyfreedp-plus, ε 3, seed 0: step "));
  for (const char* shown : {"/4000", "booked (δ ", "test accuracy", "private loss", "step size η"})
    EXPECT_THAT(seen.out, HasSubstr(shown));

  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 0) << "whatever the command that tells of it does: " << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("warning: --notify ended with exit code 3."));
  EXPECT_THAT(read_file((folder_ / "told").string()).value(),
              MatchesRegex("watched 0 /.*/out watched finished: .*; .*s\n"));
  EXPECT_EQ(string_or(log().front(), "event", ""), "run-begun");
  EXPECT_EQ(string_or(log().front(), "spec", ""), "watched");
  EXPECT_EQ(string_or(log().back(), "event", ""), "run-over");
  EXPECT_EQ(int_or(log().back(), "exit_code", -1), 0);

  EXPECT_FALSE(fs::exists(folder_ / "out/progress.json"));
  EXPECT_EQ(run({"watch", "watched"}).out, "watched  1 study: 1 concluded, 0 open, 0 failed\n");
}

TEST_F(WatchedProgram, AStopAndAKillAreTold) {
  auto running = start({"run", spec_, "--quiet", "--log", "log.jsonl", "--notify",
                        "echo \"$HYFREEDP_EXIT_CODE $HYFREEDP_SUMMARY\" > told"});
  ASSERT_TRUE(wait_for([&] { return journal_bytes() > 50000 || !running.is_running(); }));
  running.interrupt();
  EXPECT_EQ(running.wait().code, 130);
  EXPECT_THAT(read_file((folder_ / "told").string()).value(),
              StartsWith("130 watched stopped; the same command continues it"));
  EXPECT_EQ(int_or(log().back(), "exit_code", -1), 130);
  EXPECT_EQ(run({"watch"}).code, 0);

  auto killed = start({"run", spec_, "--quiet"});
  ASSERT_TRUE(wait_for([&] { return fs::exists(folder_ / "out/progress.json") || !killed.is_running(); }));
  killed.kill();
  killed.wait();
  const auto seen = run({"watch"});
  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.err, HasSubstr("was killed"));
  EXPECT_THAT(seen.out, HasSubstr("1 open"));
}

}  // namespace watch_test
}  // namespace hyfreedp::end_to_end
