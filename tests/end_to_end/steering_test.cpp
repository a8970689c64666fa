// `hyfreedp cancel` while a run works, `retry` after it: the rows are those of an undisturbed run.
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace steering_test {

using ::testing::HasSubstr;

const std::string kTwoRows = R"(name: long
title: long runs
noise_seed: steering
panels:
  - id: small
    dataset: {name: synthetic, train: 4000, validation: 500, test: 500, classes: 3, features: 64}
    model: linear
    seeds: [0]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6000, optimizer: adamw}
    evaluate: {every: 500}
    rows:
      - {method: prodigy}
      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}
)";

using Steering = Program;

TEST_F(Steering, ACancelledStudyIsRetriedBitForBit) {
  draw_no_pictures();
  const auto spec = write("long.yaml", kTwoRows);
  ASSERT_EQ(run({"run", spec, "--out", "clean", "--quiet"}).code, 0);

  auto running = start({"run", spec, "--out", "out", "--quiet"});
  ASSERT_TRUE(wait_for([&] { return journal_bytes("out") > 20000 || !running.is_running(); }));
  running.pause();
  ASSERT_TRUE(running.is_running()) << "the run was over before anything could be cancelled";
  auto cancelling = start({"cancel", "long", "--only", "row=prodigy", "--out", "out"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  running.resume();
  const auto cancelled = cancelling.wait();
  ASSERT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr("1 study of 'long' cancelled."));
  const auto tagged = run({"tag", "long", "--add", "slow", "--out", "out"});
  EXPECT_EQ(tagged.code, 0) << tagged.err;
  const auto ended = running.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("prodigy, ε 3, seed 0: cancelled."));
  EXPECT_FALSE(fs::is_empty(folder_ / "out/checkpoints")) << "from which retry goes on";
  EXPECT_THAT(run({"status", "--out", "out"}).out, HasSubstr("1 concluded, 0 open, 1 failed (1 cancelled)"));

  EXPECT_EQ(run({"retry", "long", "--out", "out"}).code, 0);
  const auto again = run({"run", spec, "--out", "out", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(rows("long"), rows("long", "clean"));
  EXPECT_THAT(run({"list", "runs", "long", "--tag", "slow", "--out", "out"}).out, HasSubstr("6000/6000"));
}

}  // namespace steering_test
}  // namespace hyfreedp::end_to_end
