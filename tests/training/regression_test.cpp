// Real labels: squared error, no accuracy.
#include <gtest/gtest.h>

#include "harness/training/setup.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace regression_test {

trial::TrialConfig regression_config(std::int64_t steps) {
  auto config = exact_config(steps);
  config.dataset = resolved(datasets::find_dataset("synthetic-regression"), "synthetic-regression",
                            {{"train", 600}, {"validation", 100}, {"test", 400}, {"features", 10}});
  config.model = model_named("linear", {{"bias", false}});
  config.optimizer = optimizer_named("sgd");
  config.controller = controller_named("constant", {{"lr", 0.2}});
  return config;
}

std::map<std::string, double> last_test_metrics(const trial::TrialConfig& config) {
  const TemporaryFolder folder;
  const auto end = run_once(config, folder.file("a.jsonl"));
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
  std::map<std::string, double> values;
  for (const auto& metric : mechanism::read_journal(folder.file("a.jsonl")).value().metrics) {
    if (metric.split == "test") values[metric.name] = metric.value;
  }
  return values;
}

// Labels are a linear function of the features, so that plain gradient descent finds it; the loss
// begins at E y^2 = 2583.
TEST(Regression, PlainTrainingFindsTheWeights) {
  auto timid = regression_config(1);
  timid.controller = controller_named("constant", {{"lr", 1e-5}});
  const auto few = last_test_metrics(timid);
  const auto many = last_test_metrics(regression_config(400));
  EXPECT_NEAR(few.at("loss"), 2583, 300);
  EXPECT_LT(many.at("loss"), 1e-3);
  EXPECT_FALSE(many.contains("accuracy"));
}

TEST(Regression, PrivateTrainingRunsThroughTheSameEngine) {
  auto config = small_config(60);
  const auto plain = regression_config(60);
  config.dataset = plain.dataset;
  config.model = plain.model;
  config.optimizer = plain.optimizer;
  // of clipped gradients, which have norm 1
  config.controller = controller_named("constant", {{"lr", 3.0}});
  config.privacy.gradient_noise = 0.5;
  EXPECT_LT(last_test_metrics(config).at("loss"), 300);
}

TEST(Regression, AMethodThatChoosesByAccuracyIsRefused) {
  auto config = regression_config(1);
  config.evaluation.oracle_validation = true;
  const auto dataset = data_of(config);
  const auto refused = set_up(config, dataset);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, "invalid-config");
  EXPECT_NE(refused.error().message.find("no accuracy"), std::string::npos) << refused.error().message;
}

}  // namespace regression_test
}  // namespace hyfreedp::training
