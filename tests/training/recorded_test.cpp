// What `evaluate` has a run journal beside its results: values of public data without noise, and
// others. It changes nothing of the run.
#include <gtest/gtest.h>

#include "harness/training/setup.h"
#include "harness/trial/released_norms.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace recorded_test {

// Under the same draws, whatever is recorded.
mechanism::Journal journal_of(const trial::TrialConfig& config, const std::string& path) {
  auto journal = mechanism::JournalWriter::open(path, config, fingerprint(config.device)).value();
  const auto dataset = data_of(config);
  const auto end = train({.config = config,
                          .dataset = dataset,
                          .key = random::key_from_seed("what is recorded"),
                          .journal = *journal,
                          .stop_requested = [] { return false; }})
                       .value();
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.kind << ": " << end.finish.message;
  return mechanism::read_journal(path).value();
}

std::map<std::int64_t, double> metric_of(const mechanism::Journal& journal, const std::string& split,
                                         const std::string& name) {
  std::map<std::int64_t, double> values;
  for (const auto& metric : journal.metrics) {
    if (metric.split == split && metric.name == name) values[metric.step] = metric.value;
  }
  return values;
}

TEST(Recorded, ValuesStandBesideTheReleasedOnesAndChangeNothing) {
  const TemporaryFolder folder;
  auto config = probing_config(true);
  config.evaluation.every = 10;
  const auto plain = journal_of(config, folder.file("a.jsonl"));
  config.evaluation.recorded = {
      .raw_losses = true, .training_split = true, .released_norms = true, .distance = true, .by_class = true};
  const auto journal = journal_of(config, folder.file("b.jsonl"));
  EXPECT_EQ(hashes_of(journal), hashes_of(plain));
  EXPECT_EQ(metric_of(journal, "test", "loss"), metric_of(plain, "test", "loss"));

  // A probe's batch: clipped losses are below raw ones, and released ones around the clipped.
  for (const auto& step : journal.steps) {
    ASSERT_EQ(step.scalars.contains("raw_loss.2"), step.step % 5 == 0) << step.step;
    if (step.step % 5 != 0) continue;
    EXPECT_FALSE(step.scalars.contains("raw_loss.3"));
    for (const char* place : {"0", "1", "2"}) {
      const double raw = step.scalars.at(std::string("raw_loss.") + place);
      const double clipped = step.scalars.at(std::string("clipped_loss.") + place);
      EXPECT_GT(raw, 0);
      EXPECT_LE(clipped, raw);
      EXPECT_LE(clipped, step.scalars.at("R_l"));
    }
  }
  // The first change's length is the first distance.
  EXPECT_EQ(journal.steps.at(0).scalars.at("distance"), 0);
  EXPECT_NEAR(journal.steps.at(1).scalars.at("distance"), journal.steps.at(1).scalars.at(trial::kUpdateNorm),
              1e-6);
  EXPECT_GT(journal.steps.back().scalars.at("distance"), 0);
  const auto trained = metric_of(journal, trial::kTrainSplit, "loss");
  EXPECT_EQ(trained.size(), metric_of(journal, "test", "loss").size());
  EXPECT_LT(trained.rbegin()->second, trained.begin()->second) << "it learns";
  for (const char* name : {"macro-accuracy", "auc", "mcc"}) {
    const auto values = metric_of(journal, "test", name);
    EXPECT_EQ(values.size(), trained.size()) << name;
    EXPECT_LE(values.rbegin()->second, 1) << name;
    EXPECT_GT(values.rbegin()->second, 0) << name;
  }
}

// Of a network whose first weights are not zero.
TEST(Recorded, TheDistanceIsFromTheInitialWeights) {
  const TemporaryFolder folder;
  auto config = small_config(2);
  for (const auto& facts : models::model_facts()) {
    if (facts.name == "mlp") use_example(config, facts);
  }
  config.evaluation.recorded = {.released_norms = true, .distance = true};
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  EXPECT_EQ(journal.steps.at(0).scalars.at("distance"), 0);
  EXPECT_NEAR(journal.steps.at(1).scalars.at("distance"), journal.steps.at(1).scalars.at(trial::kUpdateNorm),
              1e-6);
}

TEST(Recorded, ValuesOfPrivateDataAreRefused) {
  for (const auto& [name, asked] :
       {std::pair<std::string, trial::Recorded>{"raw_losses", {.raw_losses = true}},
        {"training_split", {.training_split = true}}}) {
    auto config = small_config();
    config.evaluation.recorded = asked;
    config.dataset = {"fashion-mnist", {{"features", "hog"}}};
    const auto refused = set_up(config, data_of(small_config()));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, "invalid-config");
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().message;
  }
}

}  // namespace recorded_test
}  // namespace hyfreedp::training
