// Rows that could not begin are named before anything trains.
#include "harness/runner/execute/first_runs.h"

#include "tests/runner/spec_file.h"

namespace hyfreedp::runner {
namespace first_runs_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FirstRuns : public WrittenSpec {
 protected:
  std::string wrong_with(const std::string& train, const std::string& rows,
                         const std::string& dataset = "{name: synthetic-images, train: 1000, classes: 3}",
                         const std::string& model = "linear") {
    const auto spec = load(fmt::format(
        "name: first\ntitle: t\ndataset: {}\nmodel: {{name: {}}}\nseeds: [0, 1]\nepsilon: [1, 3, inf]\n"
        "train: {{sample_rate: 0.1, steps: 6, {}}}\nrows:\n{}",
        dataset, model, train, rows));
    if (!spec) return "spec: " + spec.error().message;
    const auto begin = check_first_runs(plan(*spec).value());
    return begin ? "" : begin.error().message;
  }
};

constexpr const char* kFixed = "  - {id: fixed, method: fixed-rate, options: {lr: 0.1}}\n";
constexpr const char* kOwn = "  - {id: own, method: dog}\n";
constexpr const char* kHyFree = "  - {id: fitted, method: hyfreedp}\n";

TEST_F(FirstRuns, ThatFitAreFine) {
  EXPECT_EQ(wrong_with("optimizer: adamw, augmentations: 2, augmentation_shift: 3", kFixed), "");
  EXPECT_EQ(wrong_with("optimizer: adamw", kHyFree), "");
  EXPECT_EQ(wrong_with("optimizer: {name: d-adapt-adam, layer_scale: [1, 2]}", kFixed), "");
}

TEST_F(FirstRuns, EachRowThatCannotBeginIsNamedOnce) {
  const auto both = wrong_with("optimizer: dog", std::string(kHyFree) + kOwn);
  EXPECT_THAT(both, AllOf(HasSubstr("main, fitted: optimizer 'dog' owns its step size"),
                          Not(HasSubstr("own:")), Not(HasSubstr("\n"))));
  EXPECT_THAT(wrong_with("optimizer: dog, average: swa", std::string(kHyFree) + kOwn),
              AllOf(HasSubstr("main, fitted: "), HasSubstr("\nmain, own: optimizer 'dog' evaluates at an "
                                                           "average of its own, and train.average asks")));
}

TEST_F(FirstRuns, AugmentationsAreOfImagesAndStayInThem) {
  EXPECT_THAT(wrong_with("optimizer: adamw, augmentations: 2, augmentation_shift: 16", kFixed),
              HasSubstr("moves an image of 16 x 16 pixels out of sight"));
  EXPECT_THAT(wrong_with("optimizer: adamw, augmentations: 2", kFixed, "{name: synthetic, train: 1000}"),
              HasSubstr("'synthetic' has no images under these options"));
}

TEST_F(FirstRuns, CheckpointsAreOfBlocksWhoseGradientsAreComputed) {
  constexpr const char* kCheckpoints = "optimizer: adamw, activation_checkpointing: true";
  EXPECT_THAT(wrong_with(kCheckpoints, kFixed), HasSubstr("model 'linear' has no blocks"));
  const auto wrong = [&](const char* rows) {
    return wrong_with(kCheckpoints, rows, "{name: synthetic, train: 1000}", "mlp");
  };
  EXPECT_EQ(wrong(kFixed), "");
  EXPECT_THAT(wrong("  - {id: one, method: dp-zo}\n"), HasSubstr("computes no gradients"));
}

TEST_F(FirstRuns, ASearchOfNothingIsNamed) {
  const auto of = [](const char* method, const char* options) {
    return fmt::format("  - {{id: one, method: {}, options: {{{}}}}}\n", method, options);
  };
  EXPECT_THAT(wrong_with("optimizer: adamw", of("linear-scaling", "t_min: 100, t_max: 20")),
              HasSubstr("main, one: The search range is empty: a minimum of eta_min = 0.01, t_min = 100"));
  EXPECT_THAT(wrong_with("optimizer: adamw", of("random-search", "rate_min: 1, rate_max: 0.1")),
              HasSubstr("rate_min is 1 and rate_max is 0.1; exchange them."));
  EXPECT_THAT(wrong_with("optimizer: adamw", of("nondp-gs", "grid: []")), HasSubstr("The grid is empty"));
}

TEST_F(FirstRuns, AWarmUpEndsBeforeTheRun) {
  const auto row = [](int warmup) {
    return fmt::format("  - {{id: one, method: nondp-gs, options: {{grid: [0.1], warmup: {}}}}}\n", warmup);
  };
  EXPECT_EQ(wrong_with("optimizer: adamw", row(5)), "");
  EXPECT_THAT(wrong_with("optimizer: adamw", row(6)),
              HasSubstr("main, one: a 'warmup' of 6 steps is not over"));
}

TEST_F(FirstRuns, AFactorForEachTensorIsCounted) {
  EXPECT_THAT(wrong_with("optimizer: {name: d-adapt-adam, layer_scale: [1, 2, 3]}", kFixed),
              HasSubstr("'layer_scale' has 3 factors, and the model trains 2 tensors"));
}

}  // namespace first_runs_test
}  // namespace hyfreedp::runner
