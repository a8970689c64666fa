// What `hyfreedp run` says before it goes on with cells that another build began.
#include "harness/runner/execute/mixed_builds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace mixed_builds_test {

using ::testing::HasSubstr;

constexpr const char* kSpec = R"(
name: tiny
noise_seed: s
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1, 2]
    epsilon: [3]
    delta: N^-1.1
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [{method: fixed-rate, options: {lr: 0.1}}, {method: dp-hyper}]
)";

const trial::Build kNow{"0.7.0", "bbbbbbbbbbbb", true, "0022"};

std::optional<std::string> warning(World& world, const trial::Build& now) {
  const auto said = mixed_builds_warning(world.store(), world.read(kSpec), now);
  EXPECT_TRUE(said) << said.error().message;
  return *said;
}

TEST(MixedBuilds, AreNamedBeforeTheRestIsRun) {
  World world;
  FakeExecutor executor;
  world.run(kSpec, executor, [&] { return executor.ended >= 2; });
  std::size_t finished = 0;
  for (const auto& study : world.store().studies("tiny").value())
    finished += study.state == results::StudyState::concluded;
  ASSERT_GT(finished, 0U);
  ASSERT_LT(finished, 6U);
  const auto said = warning(world, kNow);
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr(std::to_string(finished) + " of 6 studies are of another build (an unknown "
                                                          "version, worker not recorded)"));
  EXPECT_THAT(*said,
              HasSubstr("this one (0.7.0, commit bbbbbbbbbbbb with changes, worker 0022) does the rest"));
  EXPECT_EQ(warning(world, trial::Build{}), std::nullopt) << "all is of one build";
}

TEST(MixedBuilds, AreNoMatterWhereNothingWasDoneOrNothingIsLeft) {
  World world;
  FakeExecutor executor;
  EXPECT_EQ(warning(world, kNow), std::nullopt);
  world.run(kSpec, executor);
  EXPECT_EQ(warning(world, kNow), std::nullopt);
}

TEST(MixedBuilds, TheBuildThatIsToRunIsToldByItsWorker) {
  const auto build = build_of_worker("/proc/self/exe");
  EXPECT_EQ(build.worker.size(), 16U);
  EXPECT_FALSE(build.version.empty());
}

}  // namespace mixed_builds_test
}  // namespace hyfreedp::runner
