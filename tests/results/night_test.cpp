// A night as it is read from a store: released and test values of the reported runs, and nothing
// else.
#include "results/regress/night.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trial/released_norms.h"
#include "harness/trial/trial_config.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace night_test {

const NightCell& cell_of(const Night& night, const std::string& row, bool is_private) {
  for (const auto& cell : night.cells) {
    if (cell.row == row && cell.epsilon.has_value() == is_private) return cell;
  }
  throw std::logic_error("no such cell");
}

TEST(Night, HoldsReportedRunsAndFailures) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(small::fill(*store));
  const auto night = read_night(*store, "small");
  ASSERT_TRUE(night) << night.error().message;
  EXPECT_EQ(night->cells.size(), 5U);
  const auto& cell = cell_of(*night, "a", true);
  ASSERT_EQ(cell.runs.size(), 3U);
  EXPECT_EQ(cell.runs[1].state, NightRun::State::value);
  EXPECT_NEAR(cell.runs[1].accuracy.value(), 82, 1e-9);
  EXPECT_EQ(cell.runs[1].loss, 1.25);
  EXPECT_EQ(cell.runs[1].epsilon, 0.99);
  EXPECT_EQ(cell.runs[1].hashes, (std::vector<std::string>{"h0", "h1"}));
  const auto& failed = cell_of(*night, "b", true).runs[1];
  EXPECT_EQ(failed.state, NightRun::State::failed);
  EXPECT_EQ(failed.failure_kind, "diverged");
}

// What was not released is in no comparison, for it is written to files that anybody may read.
TEST(Night, HoldsNothingConfidential) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(small::fill(*store));
  const auto night = read_night(*store, "small").value();
  for (const auto& cell : night.cells) {
    for (const auto& run : cell.runs) {
      for (const auto& [name, value] : run.metrics) EXPECT_NE(value, small::kPlantedConfidential) << name;
    }
  }
}

TEST(Night, ReducesTheStepsNorms) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(store->put_spec(small::spec()));
  auto record = small::study("a", "prodigy", 1.0, 0);
  auto trial = small::trial("t");
  const auto square = [](double value) { return std::sqrt(value); };
  ASSERT_TRUE(store->put_trial(
      trial,
      {{0,
        "h0",
        {{trial::kGradientNorm, 3.0}, {trial::kNoiseResidual, 11.0}, {trial::kNoiseDimension, 10.0}}},
       {1,
        "h1",
        {{trial::kGradientNorm, 4.0},
         {trial::kUpdateNorm, 0.5},
         {"update_rms/fc.weight", 0.25},
         {trial::kNoiseResidual, 8.0},
         {trial::kNoiseDimension, 10.0}}}},
      small::metrics(0.8)));
  record.state = StudyState::concluded;
  record.trials = {"t"};
  record.reported_trial = "t";
  ASSERT_TRUE(store->put_study(record));
  const auto night = read_night(*store, "small").value();
  const auto& run = cell_of(night, "a", true).runs.at(0);
  EXPECT_NEAR(run.norms.at("gradient norm"), square(12.5), 1e-12);
  EXPECT_NEAR(run.norms.at("update norm"), 0.5, 1e-12);
  EXPECT_NEAR(run.norms.at("update of fc.weight"), 0.25, 1e-12);
  ASSERT_TRUE(run.noise);
  EXPECT_EQ(run.noise->sum, 19);
  EXPECT_EQ(run.noise->freedom, 20);
}

// What a failed study's runs were, so that it can be said whether the reference's was the same one.
TEST(Night, SaysWhatTheTrialsOfAFailedStudyWere) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(store->put_spec(small::spec()));
  auto record = small::study("a", "prodigy", 1.0, 0);
  for (const auto* id : {"lost", "won"}) {
    auto trial = small::trial(id);
    trial.config["seed"] = 3;
    trial.config["noise_seed"] = "n";
    trial.config["rate"] = id;
    if (trial.id == "lost") trial.state = trial::TrialState::failed;
    ASSERT_TRUE(store->put_trial(trial, small::steps(), {}));
    record.trials.push_back(id);
  }
  record.composition = {.rule = trial::Composition::Rule::sum};
  ASSERT_TRUE(small::fail(*store, record));
  const auto night = read_night(*store, "small").value();
  const auto& run = cell_of(night, "a", true).runs.at(0);
  EXPECT_EQ(run.noise_seed, "n");
  EXPECT_EQ(run.machine, R"({"device":"cpu"})");
  ASSERT_EQ(run.lost_settings.size(), 1U);
  EXPECT_EQ(run.lost_settings[0].at("rate"), "\"lost\"");
  EXPECT_FALSE(run.lost_settings[0].contains("seed"));
  EXPECT_FALSE(run.lost_settings[0].contains("noise_seed"));
  EXPECT_EQ(run.asked.size(), 2U);
}

// `run --retrain` gives a row another release, and its trials another repetition, but the noise and
// the setting that a new folder would have.
TEST(Night, OfARetrainedRowIsThatOfANewFolder) {
  const auto night_of = [](std::int64_t release) {
    auto spec = small::spec();
    if (release > 0) {
      spec.hash = "another";
      spec.resolved["panels"].as_array()[0].as_object()["rows"].as_array()[0].as_object()["release"] =
          release;
    }
    const auto store = Store::in_memory().value();
    store->put_spec(spec).value();
    auto record = small::study("a", "prodigy", 1.0, 0);
    record.trials = {"t"};
    record.reported_trial = "t";
    record.state = StudyState::concluded;
    record.composition = {.rule = trial::Composition::Rule::trial};
    auto trial = small::trial("t");
    trial.config["noise_seed"] = "n";
    trial.config["repetition"] = release * trial::kRepetitionsPerRelease + 2;
    store->put_trial(trial, small::steps(), small::metrics(0.8)).value();
    store->put_study(record).value();
    return read_night(*store, "small").value();
  };
  const auto fresh = night_of(0), retrained = night_of(2);
  EXPECT_EQ(retrained.hash, fresh.hash);
  EXPECT_EQ(canonical_json(retrained.resolved), canonical_json(fresh.resolved));
  EXPECT_EQ(cell_of(retrained, "a", true).runs.at(0).setting.at("repetition"), "2");
  const auto report = compare_nights(retrained, fresh);
  EXPECT_FALSE(report.spec_changed);
  for (const auto& cell : report.cells) {
    if (cell.row != "a" || !cell.epsilon) continue;
    for (const auto& finding : cell.findings) {
      if (finding.what != "bits" && finding.what != "setting") continue;
      EXPECT_EQ(finding.verdict, RegressVerdict::same) << finding.what << " " << finding.text;
    }
  }
}

// How many runs a private selection made is in no file that a comparison is written to.
TEST(Night, HoldsOfAPrivateSelectionTheReportedRunAlone) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(small::fill(*store));
  const auto night = read_night(*store, "small").value();
  for (const auto& run : cell_of(night, "c", true).runs) EXPECT_TRUE(run.asked.empty());
  EXPECT_EQ(cell_of(night, "a", true).runs.at(0).asked.size(), 1U);
}

TEST(Night, OfAnUnknownSpecNamesThoseThatAreThere) {
  const auto store = Store::in_memory().value();
  ASSERT_TRUE(small::fill(*store));
  const auto night = read_night(*store, "smal");
  ASSERT_FALSE(night);
  EXPECT_THAT(night.error().message, ::testing::HasSubstr("Did you mean 'small'?"));
}

}  // namespace night_test
}  // namespace hyfreedp::results
