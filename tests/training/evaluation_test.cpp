// What a run's numbers are of: which split, which weights, which features; and that its step sizes
// and its initial weights are those of the config.
#include "harness/training/evaluation.h"

#include <gtest/gtest.h>

#include "harness/training/setup.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace evaluation_test {

using torch::Tensor;

class LastWeights : public mechanism::Observer {
 public:
  void vector_released(const mechanism::VectorSeen&) override {}
  void values_released(const mechanism::ValuesSeen&) override {}
  void run_ended(const Tensor& last) override { weights = last.clone(); }
  Tensor weights;
};

mechanism::Journal journal_on(const datasets::Dataset& dataset, const trial::TrialConfig& config,
                              mechanism::Observer* observer = nullptr) {
  const TemporaryFolder folder;
  {
    const auto writer = mechanism::JournalWriter::open(folder.file("a"), config, fingerprint("cpu")).value();
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = random::key_from_seed("one key"),
                            .journal = *writer,
                            .observer = observer})
                         .value();
    EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
  }
  return mechanism::read_journal(folder.file("a")).value();
}

// Of a linear model with 8 features and 3 classes.
double accuracy_of(const Tensor& weights, const datasets::SplitData& split) {
  const auto logits =
      at::linear(split.features, weights.narrow(0, 0, 24).view({3, 8}), weights.narrow(0, 24, 3));
  return (logits.argmax(1) == split.labels).to(torch::kFloat64).mean().item<double>();
}

// The labels of two splits are turned, so that each split has an accuracy of its own.
TEST(Evaluation, EachAccuracyIsOfItsOwnSplit) {
  auto config = small_config(30);
  config.evaluation = {.oracle_validation = true, .oracle_train = true};
  auto data = data_of(config);
  const auto turn = [](datasets::SplitData& split, std::int64_t by, std::int64_t count) {
    auto some = split.labels.narrow(0, 0, count);
    some.copy_((some + by).remainder(3));
  };
  turn(data.private_validation, 1, 200);
  turn(data.test, 2, 80);
  LastWeights last;
  const auto journal = journal_on(data, config, &last);
  const double train = accuracy_of(last.weights, data.private_train);
  const double validation = accuracy_of(last.weights, data.private_validation);
  const double test = accuracy_of(last.weights, data.test);
  EXPECT_GT(train, test + 0.1);
  EXPECT_GT(test, validation + 0.1);
  EXPECT_NEAR(metric_of(journal, "private_train", "accuracy"), train, 1e-12);
  EXPECT_NEAR(metric_of(journal, "private_validation", "accuracy"), validation, 1e-12);
  EXPECT_NEAR(metric_of(journal, "test", "accuracy"), test, 1e-12);
}

// Augmentation is of training: at weights that hardly move, the training accuracy is that without
// it.
TEST(Evaluation, TheTrainingAccuracyIsOfTheSamplesAsTheyAre) {
  auto config = exact_config(1);
  use_example(config, **models::find_model("resnet"));
  config.model = model_named("linear", {{"init", "he"}});
  config.controller = controller_named("constant", {{"lr", 1e-20}});
  config.evaluation.oracle_train = true;
  const double plain = metric_of(journal_under_one_key(config), "private_train", "accuracy");
  config.training.augmentation = {.copies = 3, .flip = true, .shift = 3};
  EXPECT_EQ(metric_of(journal_under_one_key(config), "private_train", "accuracy"), plain);
}

TEST(Evaluation, AnOptimizersOwnAverageIsWhatIsEvaluated) {
  auto config = small_config();
  config.optimizer = optimizer_named("dog");
  config.controller = controller_named("constant", {{"lr", 1.0}});
  const auto plain = journal_under_one_key(config);
  config.optimizer = optimizer_named("dog", {{"average", true}});
  const auto averaged = journal_under_one_key(config);
  EXPECT_EQ(hashes_of(plain), hashes_of(averaged));
  EXPECT_NE(metric_of(plain, "test", "loss"), metric_of(averaged, "test", "loss"));
}

// The same bits as a run on features that were centred beforehand.
TEST(Evaluation, TheFeatureMeanIsTakenOffEverySplit) {
  auto config = exact_config();
  config.evaluation = {.oracle_validation = true};
  auto data = data_of(config);
  for (auto* split : {&data.private_train, &data.private_validation, &data.test}) split->features.add_(2.0);
  const auto mean = data.private_train.features.to(torch::kFloat64).sum(0).div(600.0);
  auto centred = data;
  for (auto* split : {&centred.private_train, &centred.private_validation, &centred.test}) {
    split->features = split->features - mean.to(torch::kFloat32);
  }
  const auto expected = journal_on(centred, config);
  const auto raw = journal_on(data, config);
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1e6, .noise = 0};
  const auto journal = journal_on(data, config);
  const auto loss = [](const mechanism::Journal& of) { return metric_of(of, "test", "loss"); };
  EXPECT_NEAR(loss(journal), loss(expected), 1e-4 * loss(expected));
  EXPECT_GT(std::abs(loss(raw) - loss(expected)), 0.02 * loss(expected));
  EXPECT_EQ(metric_of(journal, "private_validation", "accuracy"),
            metric_of(expected, "private_validation", "accuracy"));
}

// Sigma S / B + xi is DPAdam-WOSM's denominator; a rate that falls with the step shows which step's
// it was.
TEST(StepSizes, AreThoseOfTheSchedulesStepAndOfThePlansNoise) {
  auto config = small_config();
  config.privacy.clipping.rule = trial::ClippingRule::abadi;
  config.privacy.clipping.constant = 0.4;
  config.optimizer = optimizer_named("dpadamwosm", {{"xi", 1e-8}});
  const json::object options{{"lr", 0.05}, {"decay", "linear"}, {"warmup", 3}};
  config.controller = controller_named("schedule", options);
  const auto journal = journal_under_one_key(config);
  const double denominator = 1.1 * 0.4 / 60 + 1e-8;
  for (const auto& record : journal.steps) {
    const double t = static_cast<double>(record.step);
    const double rate = record.step < 3 ? 0.05 * (t + 1) / 3 : 0.05 * (1 - (t - 3) / 9);
    EXPECT_NEAR(record.scalars.at("eta"), rate, 1e-15) << record.step;
    EXPECT_NEAR(record.scalars.at("effective_step_size") * denominator, rate, 1e-12) << record.step;
  }
}

TEST(InitialWeights, FollowTheSeed) {
  auto config = small_config(1);
  config.model = model_named("mlp", {{"last_layer", "he"}});
  const auto first = metric_of(journal_under_one_key(config), "test", "loss");
  EXPECT_EQ(metric_of(journal_under_one_key(config), "test", "loss"), first);
  config.seed = 1;
  EXPECT_NE(metric_of(journal_under_one_key(config), "test", "loss"), first);
}

}  // namespace evaluation_test
}  // namespace hyfreedp::training
