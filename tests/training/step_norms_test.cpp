// What a nightly comparison reads of a run: the norms are those of the vectors, and change nothing.
#include "harness/training/step_norms.h"

#include <cmath>

#include "harness/training/setup.h"
#include "harness/trial/released_norms.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace step_norms_test {

trial::TrialConfig with_norms(trial::TrialConfig config) {
  config.evaluation.recorded.released_norms = true;
  config.evaluation.recorded.noise_residual = true;
  return config;
}

TEST(StepNorms, ChangeNothing) {
  for (const auto& config : {small_config(), probing_config(false), exact_config()}) {
    EXPECT_EQ(hashes_of(journal_under_one_key(with_norms(config))), hashes_of(journal_under_one_key(config)));
  }
  EXPECT_FALSE(journal_under_one_key(small_config()).steps.back().scalars.contains(trial::kGradientNorm));
}

// With a plain step of length eta along the released gradient, the change is eta times its norm.
TEST(StepNorms, AreThoseOfTheStepsAsTheyWereMade) {
  auto config = with_norms(small_config(6));
  config.optimizer = optimizer_named("sgd", {{"momentum", 0.0}});
  const auto journal = journal_under_one_key(config);
  double squares = 0;
  for (std::size_t step = 0; step < journal.steps.size(); ++step) {
    const auto& scalars = journal.steps[step].scalars;
    EXPECT_EQ(scalars.contains(trial::kUpdateNorm), step > 0);
    if (step == 0) continue;
    const double update = scalars.at(trial::kUpdateNorm);
    const auto& before = journal.steps[step - 1].scalars;
    EXPECT_NEAR(update / (before.at("eta") * before.at(trial::kGradientNorm)), 1, 1e-5);
    squares += update * update;
  }
  const auto& last = journal.steps.back().scalars;
  double tensors = 0;
  int count = 0;
  for (const auto& [name, value] : last) {
    if (!name.starts_with(trial::kTensorUpdate)) continue;
    tensors += value * value;
    ++count;
  }
  EXPECT_EQ(count, 2) << "weight and bias";
  EXPECT_NEAR(tensors, squares / 5, 1e-9 * squares);
  EXPECT_FALSE(journal.steps[2].scalars.contains(std::string(trial::kTensorUpdate) + "fc.weight"));
}

// 40 steps of 27 values: chi-square with 1080 degrees of freedom, within 6 standard deviations
// (a false failure once in 1e8), which 2/3 and 3/2 are far beyond.
TEST(StepNorms, ResidualIsTheNoiseAndTheNoiseAlone) {
  for (auto config : {small_config(40), probing_config(true, 40)}) {
    config.privacy.clipping.rule = trial::ClippingRule::abadi;
    config.privacy.clipping.constant = 0.3;
    const auto journal = journal_under_one_key(with_norms(config));
    double sum = 0, freedom = 0;
    for (const auto& step : journal.steps) {
      sum += step.scalars.at(trial::kNoiseResidual);
      freedom += step.scalars.at(trial::kNoiseDimension);
    }
    EXPECT_EQ(freedom, 40 * 27);
    EXPECT_LT(std::abs(sum / freedom - 1), 6 * std::sqrt(2 / freedom));
  }
  for (const auto& step : journal_under_one_key(with_norms(exact_config())).steps) {
    EXPECT_FALSE(step.scalars.contains(trial::kNoiseResidual)) << "without noise there is none";
  }
}

// Those of a run without noise are raw: nothing of them is written unless the data is nobody's.
TEST(StepNorms, OfPrivateDataAreThoseOfPrivateRunsAlone) {
  for (const bool is_private : {true, false}) {
    for (const char* dataset : {"synthetic", "fashion-mnist"}) {
      auto config = is_private ? small_config() : exact_config();
      config.evaluation.recorded.released_norms = true;
      config.dataset.name = dataset;
      StepNorms norms(config, {{.name = "weight", .offset = 0, .size = 2}});
      const bool written = is_private || std::string(dataset) == "synthetic";
      EXPECT_EQ(norms.wanted(), written) << dataset;
      norms.reset();
      norms.see_weights(torch::zeros({2}));
      norms.see_release(torch::ones({2}), config.privacy, config.privacy.clipping.sensitivity());
      norms.see_weights(torch::ones({2}));
      std::map<std::string, double> scalars;
      norms.add_to(scalars, true);
      EXPECT_EQ(scalars.size(), written ? 3u : 0u) << dataset << (is_private ? " private" : "");
    }
  }
}

TEST(StepNorms, ResidualsOfPrivateDataAreRefused) {
  auto config = small_config();
  config.evaluation.recorded.noise_residual = true;
  config.dataset = {"fashion-mnist", {{"features", "hog"}}};
  const auto refused = set_up(config, data_of(small_config()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, "invalid-config");
  EXPECT_NE(refused.error().message.find("noise_residual"), std::string::npos) << refused.error().message;
}

}  // namespace step_norms_test
}  // namespace hyfreedp::training
