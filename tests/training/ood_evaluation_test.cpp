// Sets of ood_test: measured with the weights of the test accuracy, at the end, on test records
// alone, and without any effect on training.
#include <functional>
#include <gtest/gtest.h>

#include "harness/training/setup.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace ood_evaluation_test {

trial::OodTest shifted(const std::string& id, const trial::Named& dataset) {
  const auto& facts = *datasets::find_dataset(dataset.name).value();
  return {.id = id, .dataset = {dataset.name, datasets::test_alone(facts, dataset.options).value()}};
}

std::vector<datasets::SplitData> test_splits(const trial::TrialConfig& config) {
  std::vector<datasets::SplitData> splits;
  for (const auto& [id, dataset] : config.ood_test) {
    const auto data = datasets::load_dataset(dataset.name, dataset.options).value();
    EXPECT_EQ(data.private_train.features.size(0) + data.private_validation.features.size(0), 0);
    splits.push_back(data.test);
  }
  return splits;
}

mechanism::Journal journal_of(const trial::TrialConfig& config) {
  const TemporaryFolder folder;
  {
    const auto writer = mechanism::JournalWriter::open(folder.file("a"), config, fingerprint("cpu")).value();
    const auto dataset = data_of(config);
    const auto end = train({.config = config,
                            .dataset = dataset,
                            .key = random::key_from_seed("one key"),
                            .journal = *writer,
                            .ood_test = test_splits(config)})
                         .value();
    EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.message;
  }
  return mechanism::read_journal(folder.file("a")).value();
}

// The panel's own test split as a set must have the test split's numbers to the last bit.
void expect_the_test_splits_numbers(trial::TrialConfig config, const char* what) {
  config.ood_test = {shifted("same", config.dataset)};
  const auto journal = journal_of(config);
  for (const char* name : {"accuracy", "loss"}) {
    EXPECT_EQ(metric_of(journal, "ood_test:same", name), metric_of(journal, "test", name)) << what;
  }
}

TEST(OodTest, IsMeasuredWithTheWeightsOfTheTestAccuracy) {
  expect_the_test_splits_numbers(small_config(), "plain");
  auto averaged = small_config();
  averaged.training.average = trial::Average::ema;
  averaged.training.average_decay = 0.9;
  expect_the_test_splits_numbers(averaged, "average of the weights");
  auto own = small_config();
  own.optimizer = optimizer_named("dog", {{"average", true}});
  own.controller = controller_named("constant", {{"lr", 1.0}});
  expect_the_test_splits_numbers(own, "the optimizer's own average");
  auto free = small_config();
  free.optimizer = optimizer_named("sgd", {{"momentum", 0.9}, {"free_step", true}});
  expect_the_test_splits_numbers(free, "free step");
  auto centred = exact_config();
  centred.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1e6, .noise = 0};
  expect_the_test_splits_numbers(centred, "feature mean");
}

TEST(OodTest, HasNumbersOfItsOwnAtTheEndAloneAndChangesNoRelease) {
  auto config = small_config();
  config.evaluation.every = 5;
  const auto plain = journal_of(config);
  auto near = config.dataset, far = config.dataset;
  near.options["separation"] = 0.5;
  far.options["separation"] = 20.0;
  config.ood_test = {shifted("near", near), shifted("far", far)};
  const auto journal = journal_of(config);
  EXPECT_EQ(hashes_of(journal), hashes_of(plain));
  EXPECT_EQ(metric_of(journal, "test", "loss"), metric_of(plain, "test", "loss"));
  EXPECT_LT(metric_of(journal, "ood_test:near", "accuracy"), metric_of(journal, "test", "accuracy"));
  EXPECT_GT(metric_of(journal, "ood_test:far", "accuracy"), metric_of(journal, "test", "accuracy"));
  std::size_t measured = 0;
  for (const auto& metric : journal.metrics) {
    if (!metric.split.starts_with(trial::OodTest::kSplits)) continue;
    ++measured;
    EXPECT_EQ(metric.step, config.steps);
    EXPECT_EQ(metric.visibility, trial::Visibility::test);
  }
  EXPECT_EQ(measured, 4U);
}

std::string refusal(const trial::TrialConfig& config, const std::vector<datasets::SplitData>& splits) {
  const auto setup = set_up(config, data_of(config), splits);
  return setup ? "" : setup.error().message;
}

bool mentions(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST(OodTest, OfOtherDataThanDeclaredIsRefused) {
  auto config = small_config();
  config.ood_test = {shifted("set", config.dataset)};
  const auto splits = test_splits(config);
  EXPECT_EQ(refusal(config, splits), "");
  EXPECT_TRUE(mentions(refusal(config, {}), "names 1 sets of ood_test, and the run was given 0"));
  auto trains = config;
  trains.ood_test[0].dataset.options["train"] = 5;
  EXPECT_TRUE(mentions(refusal(trains, splits), "would load records for training"));
  auto classes = config;
  classes.ood_test[0].dataset.options["classes"] = 4;
  EXPECT_TRUE(mentions(refusal(classes, splits), "'set' has 4 classes, and what is trained on has 3"));
  auto features = config;
  features.ood_test[0].dataset.options["features"] = 9;
  EXPECT_TRUE(mentions(refusal(features, splits), "has 9 features"));
  auto more = config;
  more.ood_test[0].dataset.options["test"] = 201;
  EXPECT_TRUE(mentions(refusal(more, splits), "declared with 201 test examples but has 200"));
  auto wrong = splits;
  wrong[0].labels = wrong[0].labels + 1;
  EXPECT_TRUE(mentions(refusal(config, wrong), "'set' has labels outside 0 .. 2"));
}

}  // namespace ood_evaluation_test
}  // namespace hyfreedp::training
