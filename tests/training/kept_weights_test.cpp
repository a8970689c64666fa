// The weights of a finished run as files: those at which it was evaluated, and no other effect on
// the run.
#include "harness/training/kept_weights.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "harness/models/weights/weights.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace kept_weights_test {

namespace fs = std::filesystem;

struct Outcome {
  TrainingEnd end;
  mechanism::Journal journal;
};

Outcome run_keeping(const trial::TrialConfig& config, const std::string& journal_path,
                    const std::string& folder) {
  Outcome outcome;
  {
    auto journal = mechanism::JournalWriter::open(journal_path, config, fingerprint(config.device)).value();
    const auto dataset = data_of(config);
    outcome.end = train({.config = config,
                         .dataset = dataset,
                         .key = seeded_key(config),
                         .journal = *journal,
                         .weights_folder = folder})
                      .value();
  }
  outcome.journal = mechanism::read_journal(journal_path).value();
  return outcome;
}

json::object kept_json(const std::string& folder) {
  return read_json_file(folder + "/kept.json").value().as_object();
}

TEST(KeptWeights, AreThoseOfTheLastStepAndChangeNothing) {
  const TemporaryFolder folder;
  const auto config = small_config();
  const auto plain = run_keeping(config, folder.file("plain.jsonl"), "");
  const auto kept = run_keeping(config, folder.file("kept.jsonl"), folder.file("weights"));
  EXPECT_EQ(kept.end.weights_problem, "");
  EXPECT_EQ(hashes_of(kept.journal), hashes_of(plain.journal));
  EXPECT_EQ(metric_of(kept.journal, "test", "loss"), metric_of(plain.journal, "test", "loss"));
  const auto weights = models::read_weights(folder.file("weights")).value();
  EXPECT_EQ(weights.at("fc.weight").size(1), 8);
  EXPECT_GT(weights.at("fc.weight").abs().max().item<float>(), 0);
  EXPECT_EQ(string_or(kept_json(folder.file("weights")), "values", ""), "of the last step");
  struct stat status {};
  ASSERT_EQ(::stat(folder.file("weights").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_FALSE(fs::exists(folder.file("weights.partial")));
}

// Begun anew on another machine: by this the coordinator knows whose weights the row's are.
TEST(KeptWeights, SayOfWhichAttemptTheyAre) {
  const TemporaryFolder folder;
  const auto config = small_config();
  {
    auto elsewhere =
        mechanism::JournalWriter::open(folder.file("run.jsonl"), config, {{"machine", "another"}}).value();
    EXPECT_TRUE(elsewhere->ensure_booked(0));
  }
  run_keeping(config, folder.file("run.jsonl"), folder.file("second"));
  EXPECT_EQ(int_or(kept_json(folder.file("second")), "attempt", -1), 1);
  run_keeping(config, folder.file("other.jsonl"), folder.file("first"));
  EXPECT_EQ(int_or(kept_json(folder.file("first")), "attempt", -1), 0);
}

TEST(KeptWeights, AreTheAverageWhereTheRunIsEvaluatedAtIt) {
  const TemporaryFolder folder;
  auto config = small_config();
  run_keeping(config, folder.file("last.jsonl"), folder.file("last"));
  config.training.average = trial::Average::swa;
  const auto averaged = run_keeping(config, folder.file("mean.jsonl"), folder.file("mean"));
  const auto last = models::read_weights(folder.file("last")).value();
  const auto mean = models::read_weights(folder.file("mean")).value();
  EXPECT_FALSE(at::equal(last.at("fc.weight"), mean.at("fc.weight")));
  EXPECT_NE(string_or(kept_json(folder.file("mean")), "values", "").find("average"), std::string::npos);
  // The test loss of the journal is that of these very weights.
  const auto data = data_of(config).test;
  const auto logits = at::linear(data.features.to(torch::kFloat32), mean.at("fc.weight"), mean.at("fc.bias"));
  const auto loss = at::cross_entropy_loss(logits, data.labels).item<double>();
  EXPECT_NEAR(loss, metric_of(averaged.journal, "test", "loss"), 1e-5);
}

TEST(KeptWeights, AReleasedMeanOfTheFeaturesStandsBesideThem) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1, .noise = 2};
  run_keeping(config, folder.file("j.jsonl"), folder.file("weights"));
  const auto mean = models::read_weights(folder.file("weights/features.safetensors")).value().at("mean");
  EXPECT_EQ(mean.numel(), 8);
  EXPECT_TRUE(bool_or(kept_json(folder.file("weights")), "centred", false));
}

TEST(KeptWeights, AFolderThatCannotBeWrittenCostsTheRunNothing) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("occupied")) << "a file";
  const auto outcome =
      run_keeping(small_config(), folder.file("j.jsonl"), folder.file("occupied") + "/weights");
  EXPECT_NE(outcome.end.weights_problem.find("cannot make the folder"), std::string::npos)
      << outcome.end.weights_problem;
  ASSERT_TRUE(outcome.journal.finish);
  EXPECT_EQ(outcome.journal.finish->state, trial::TrialState::finished);
  metric_of(outcome.journal, "test", "accuracy");
}

TEST(KeptWeights, ARunThatDivergesKeepsNone) {
  const TemporaryFolder folder;
  auto config = small_config();
  config.controller = controller_named("constant", {{"lr", 1e38}});
  const auto outcome = run_keeping(config, folder.file("j.jsonl"), folder.file("weights"));
  ASSERT_EQ(outcome.journal.finish->state, trial::TrialState::failed);
  EXPECT_FALSE(fs::exists(folder.file("weights")));
}

}  // namespace kept_weights_test
}  // namespace hyfreedp::training
