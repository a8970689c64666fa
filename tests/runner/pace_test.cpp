// How long runs are expected to take, from how long similar ones took.
#include "harness/runner/progress/pace.h"

#include <gtest/gtest.h>

#include "harness/runner/spec/plan.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace pace_test {

Work work(const std::string& task, const std::string& method, double planned) {
  return {{"cpu", task, method}, planned};
}

TEST(Pace, IsOfTheKindElseOfSimilarKindsElseOfTheDevice) {
  Pace pace;
  EXPECT_EQ(pace.predicted(work("a", "x", 1)), std::nullopt);
  pace.measure(work("a", "x", 1), 2);
  pace.measure(work("a", "x", 3), 6);
  pace.measure(work("a", "y", 1), 8);
  pace.measure(work("b", "x", 1), 4);
  EXPECT_NEAR(pace.predicted(work("a", "x", 5)).value(), 10, 1e-9);
  EXPECT_NEAR(pace.predicted(work("a", "z", 1)).value(), 4, 1e-9);  // between 2 and 8
  EXPECT_NEAR(pace.predicted(work("c", "x", 1)).value(), 4, 1e-9);  // of 2, 8 and 4
  auto other = work("a", "x", 1);
  other.kind.device = "cuda";
  EXPECT_EQ(pace.predicted(other), std::nullopt);
  EXPECT_EQ(pace.runs(), 4U);
}

TEST(Pace, LeavesOutWhatIsNoTime) {
  Pace pace;
  pace.measure(work("a", "x", 1), 0);
  pace.measure(work("a", "x", 0), 1);
  EXPECT_EQ(pace.runs(), 0U);
  pace.measure(work("a", "x", 10), 5, 0.25);
  EXPECT_NEAR(pace.predicted(work("a", "x", 10)).value(), 20, 1e-9);
}

constexpr const char* kSpec = R"(
name: tiny
noise_seed: s
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [{method: fixed-rate, options: {lr: 0.1}}, {method: dp-hyper}]
)";

// Runs of a private selection that lost are in the database, and in no estimate.
TEST(Pace, OfAFolderCountsOfAPrivateSelectionTheReportedRun) {
  World world;
  FakeExecutor executor;
  world.run(kSpec, executor);
  std::size_t reported = 0, runs = 0;
  for (const auto& study : world.store().studies("tiny").value()) {
    reported += !study.reported_trial.empty();
    runs += study.trials.size();
  }
  ASSERT_GT(runs, reported) << "choose another seed: the selection made one run";
  const auto pace = stored_pace(world.store());
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->runs(), reported);
  for (const auto& study : plan(world.read(kSpec)).value())
    EXPECT_TRUE(pace->predicted(work_of(study.cell.base)).has_value());
}

// Seeds, rates and noise do not make another kind; a batch does.
TEST(Pace, AKindIsWhatDecidesHowLongAStepTakes) {
  World world;
  const auto study = plan(world.read(kSpec)).value().front();
  const auto config = study.baseline->next(study.cell, {}).value().front();
  auto other = config;
  other.seed = 7;
  other.repetition = 2;
  other.privacy.gradient_noise *= 2;
  other.steps *= 2;
  EXPECT_EQ(work_of(other).kind, work_of(config).kind);
  EXPECT_GT(work_of(other).seconds, 1.5 * work_of(config).seconds);
  other.privacy.sample_rate *= 2;
  EXPECT_NE(work_of(other).kind, work_of(config).kind);
  other = config;
  other.privacy.probe = trial::ProbePlan{.batch_size = 10, .noise = 1, .interval = 5};
  auto rarer = other;
  rarer.privacy.probe->interval = 50;
  EXPECT_NE(work_of(other).kind, work_of(rarer).kind);
  other = config;
  other.evaluation.every = 1;
  EXPECT_GT(work_of(other).seconds, work_of(config).seconds);
}

}  // namespace pace_test
}  // namespace hyfreedp::runner
