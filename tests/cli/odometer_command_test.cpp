// odometer, run --cap and table --ledger, from the command line's side.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "baselines/baseline.h"
#include "harness/base/files.h"
#include "harness/cli/commands.h"
#include "harness/mechanism/releases.h"
#include "results/table/table_model.h"
#include "tests/results/small_database.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::cli {
namespace odometer_command_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OdometerCommand : public testing::Test {
 protected:
  std::string out() const { return folder_.file("out"); }

  std::unique_ptr<results::Store> store() const {
    return results::Store::open(out() + "/hyfreedp.sqlite", results::Store::Mode::read_write).value();
  }

  static results::TrialRecord record_of(const trial::TrialConfig& config) {
    results::TrialRecord record;
    record.id = config.id();
    record.config = config.to_json();
    record.state = trial::TrialState::finished;
    record.events = mechanism::events(config);
    return record;
  }

  static void put(results::Store& store, const trial::TrialConfig& config) {
    ASSERT_TRUE(store.put_trial(record_of(config), {}, {}));
  }

  // A concluded private selection of so many runs.
  void put_selection(results::Store& store, int runs) {
    ASSERT_TRUE(store.put_spec(small::spec()));
    auto study = small::study("c", "dp-hyper", 1.0, 0);
    auto config = trial::private_config();
    config.evaluation.score = trial::ScoreRelease{30};
    study.trials.clear();
    for (int run = 0; run < runs; ++run) {
      config.repetition = run + 1;
      put(store, config);
      study.trials.push_back(config.id());
    }
    study.state = results::StudyState::concluded;
    study.reported_trial = study.trials[0];
    study.composition = {.rule = trial::Composition::Rule::selection,
                         .trials = {study.trials[0]},
                         .selection = accounting::Selection{.eta = 1, .mean = 4}};
    ASSERT_TRUE(store.put_study(study));
  }

  int run(const std::vector<std::string>& arguments) {
    said_.str("");
    complained_.str("");
    auto all = arguments;
    all.insert(all.end(), {"--out", out()});
    return dispatch(all, said_, complained_);
  }
  std::string said() const { return said_.str(); }
  std::string complained() const { return complained_.str(); }
  json::object said_json() const { return parse_json(said(), "output").value().as_object(); }

  trial::TemporaryFolder folder_;
  std::ostringstream said_, complained_;
};

TEST_F(OdometerCommand, OneLineADatasetAndDetailsOfOne) {
  EXPECT_EQ(run({"odometer"}), 2);
  EXPECT_THAT(complained(), HasSubstr("there is no folder " + out()));
  auto config = trial::private_config();
  put(*store(), config);
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), HasSubstr("fashion-mnist: this data so far: ε "));
  EXPECT_THAT(said(), Not(HasSubstr(" alone)")));
  EXPECT_EQ(run({"odometer", "--split", "private_train"}), 0);
  EXPECT_THAT(said(), HasSubstr("(private_train alone)"));
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), HasSubstr("at δ 6.778e-06"));
  EXPECT_THAT(said(), HasSubstr("reproducible noise: not a private release"));
  config.repetition = 1;
  config.evaluation.score = trial::ScoreRelease{30};
  put(*store(), config);
  EXPECT_EQ(run({"odometer", "fashion-mnist", "--confidential"}), 0);
  EXPECT_THAT(said(), ::testing::StartsWith(results::kWatermark));
  for (const char* part : {"private_train ", "private_validation ", "runs                 2", "neighbours"})
    EXPECT_THAT(said(), HasSubstr(part));
}

// An epsilon that leaves something out is a lower bound, and says so wherever it is shown.
TEST_F(OdometerCommand, WhatIsUnknownMakesItAtLeast) {
  put(*store(), trial::private_config());
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), Not(HasSubstr("so far: at least")));
  EXPECT_EQ(run({"odometer", "--json"}), 0);
  EXPECT_TRUE(said_json().at("datasets").at(0).at("complete").as_bool());

  std::filesystem::create_directories(out() + "/journals");
  ASSERT_TRUE(write_file_atomically(out() + "/journals/broken.jsonl", "no journal\nat all\n"));
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), HasSubstr("this data so far: at least ε "));
  EXPECT_THAT(said(), HasSubstr("every ε is a lower bound"));
  EXPECT_EQ(run({"odometer", "fashion-mnist"}), 0);
  EXPECT_THAT(said(), HasSubstr("  this data so far     at least ε "));
  EXPECT_THAT(said(), HasSubstr("  private_train        at least ε "));
  EXPECT_EQ(run({"odometer", "--json"}), 0);
  EXPECT_FALSE(said_json().at("datasets").at(0).at("complete").as_bool());
}

// Under a private selection their number would be that of its runs.
TEST_F(OdometerCommand, HowManyCannotBeReadIsConfidential) {
  put(*store(), trial::private_config());
  std::filesystem::create_directories(out() + "/journals");
  std::set<std::string> texts;
  for (const std::string id : {"broken-1", "broken-2"}) {
    ASSERT_TRUE(write_file_atomically(out() + "/journals/" + id + ".jsonl", "no journal\nat all\n"));
    std::string text;
    for (const char* option : {"--split=private_train", "--json"}) {
      EXPECT_EQ(run({"odometer", option}), 0);
      EXPECT_THAT(said(), Not(HasSubstr("broken-")));
      text += said();
    }
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_THAT(*texts.begin(), HasSubstr("--confidential names"));
  for (const char* option : {"--split=private_train", "--json"}) {
    EXPECT_EQ(run({"odometer", "--confidential", option}), 0);
    EXPECT_THAT(said(), HasSubstr("broken-1"));
    EXPECT_THAT(said(), HasSubstr("broken-2"));
  }
}

TEST_F(OdometerCommand, RunsOfAnUnknownSelectionMakeItAtLeast) {
  auto config = trial::private_config();
  put(*store(), config);
  config.repetition = 1;
  config.evaluation.score = trial::ScoreRelease{30};
  put(*store(), config);
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), HasSubstr("this data so far: at least ε "));
  EXPECT_EQ(run({"odometer", "--confidential"}), 0);
  EXPECT_THAT(said(), HasSubstr("this data so far: ε "));
}

TEST_F(OdometerCommand, BadInputIsOneSentence) {
  put(*store(), trial::private_config());
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"odometer", "fashion-minst"}, "Did you mean 'fashion-mnist'?"},
      {{"odometer", "synthetic"}, "what was touched: fashion-mnist"},
      {{"odometer", "--delta", "1"}, "(0, 1)"},
      {{"odometer", "--delta", "nan"}, "(0, 1)"},
      {{"odometer", "--split", "test"}, "private_train"}};
  for (const auto& [arguments, reason] : mistakes) {
    EXPECT_EQ(run(arguments), 2) << reason;
    EXPECT_THAT(complained(), HasSubstr(reason));
    EXPECT_THAT(said(), IsEmpty());
  }
}

TEST_F(OdometerCommand, JsonIsCompleteAndItsEventsPriceToTheSame) {
  auto config = trial::private_config();
  put(*store(), config);
  config.repetition = 1;
  put(*store(), config);
  EXPECT_EQ(run({"odometer", "--json", "--delta", "1e-5"}), 0);
  const auto data = said_json().at("datasets").as_array().at(0).as_object();
  const auto events = accounting::events_from_json(
      json::object{{"neighbouring", "add-remove"},
                   {"events", data.at("splits").at("private_train").at("events")}},
      "events");
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(data.at("epsilon").as_double(), accounting::report_epsilon(*events, 1e-5)->epsilon);
  EXPECT_EQ(data.at("epsilon"), data.at("private_epsilon"));
  EXPECT_EQ(events->events.size(), 1U) << "equal runs are one event";
  EXPECT_TRUE(data.at("complete").as_bool());
  EXPECT_FALSE(data.contains("runs"));

  config.privacy.is_private = false;
  config.privacy.gradient_noise = 0;
  config.evaluation.oracle_validation = true;
  put(*store(), config);
  EXPECT_EQ(run({"odometer", "--json", "--delta", "1e-5"}), 0);
  const auto now = said_json().at("datasets").as_array().at(0).as_object();
  EXPECT_TRUE(now.at("epsilon").is_null());
  EXPECT_TRUE(now.at("infinite").as_bool());
  EXPECT_EQ(now.at("private_epsilon"), data.at("epsilon"));
  EXPECT_EQ(run({"odometer"}), 0);
  EXPECT_THAT(said(), HasSubstr("1 non-private run and 1 un-noised score"));
}

TEST_F(OdometerCommand, HowManyRunsASelectionMadeDoesNotShow) {
  std::vector<std::string> shown, confidential;
  for (const int runs : {3, 5}) {
    std::filesystem::remove_all(out());
    put_selection(*store(), runs);
    std::string all;
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"odometer"}, {"odometer", "fashion-mnist"}, {"odometer", "--json"}}) {
      EXPECT_EQ(run(arguments), 0);
      all += said();
    }
    shown.push_back(all);
    EXPECT_EQ(run({"odometer", "--json", "--confidential"}), 0);
    EXPECT_TRUE(said_json().contains("watermark"));
    confidential.push_back(said());
  }
  EXPECT_EQ(shown[0], shown[1]);
  EXPECT_THAT(shown[0], HasSubstr("1 private selection count"));
  EXPECT_NE(confidential[0], confidential[1]);
}

// A selection that drew no run has an epsilon; one that was lost has none yet.
TEST_F(OdometerCommand, EpsilonOfASelectionThatDrewNoRun) {
  ASSERT_TRUE(store()->put_spec(small::spec()));
  trial::Composition composition{.rule = trial::Composition::Rule::selection};
  composition.selection = accounting::Selection{.distribution = accounting::Selection::Distribution::poisson,
                                                .mean = 4,
                                                .base = {accounting::poisson_gaussian(0.1, 4, 10)}};
  for (const bool drew_no_run : {true, false}) {
    auto study = small::study("c", "dp-hyper", 1.0, 0);
    study.state = results::StudyState::failed;
    study.trials.clear();
    study.reported_trial.clear();
    study.total.reset();
    composition.drew_no_run = drew_no_run;
    study.composition = composition;
    ASSERT_TRUE(store()->put_study(study));
    said_.str("");
    complained_.str("");
    const auto code =
        dispatch({"epsilon", "--db", out() + "/hyfreedp.sqlite", "--study", study.id}, said_, complained_);
    EXPECT_EQ(code, drew_no_run ? 0 : 2) << complained();
    EXPECT_THAT(drew_no_run ? said() : complained(),
                HasSubstr(drew_no_run ? "selection, 4 runs on average" : "has no epsilon yet"));
  }
}

TEST_F(OdometerCommand, EpsilonOfARowThatLostARunIsNotKnownYet) {
  ASSERT_TRUE(small::fill(*store(), {}));
  auto lost = small::study("a", "prodigy", 1.0, 0);
  lost.id = "lost";
  lost.state = results::StudyState::failed;
  lost.failure_kind = "killed";
  lost.failure_message = "A run was lost.";
  lost.composition = {.rule = trial::Composition::Rule::none};
  lost.trials = {"trial-study-a-1-0-0"};
  ASSERT_TRUE(store()->put_study(lost));
  EXPECT_EQ(dispatch({"epsilon", "--db", out() + "/hyfreedp.sqlite", "--study", "lost"}, said_, complained_),
            2);
  EXPECT_THAT(complained(), HasSubstr("has no epsilon yet: A run was lost. `hyfreedp odometer` counts"));
}

constexpr const char* kSpec = R"(
name: capped
title: capped
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {method: fixed-rate, options: {lr: 5e-2}}
)";

// Refused before a worker starts, so any program may stand for it.
TEST_F(OdometerCommand, RunRefusesBeyondItsCapAndLeavesNoTrace) {
  const auto spec = folder_.file("capped.yaml");
  ASSERT_TRUE(write_file_atomically(spec, kSpec));
  EXPECT_EQ(run({"run", spec, "--dry-run", "--cap-delta", "1e-5"}), 0);
  EXPECT_THAT(said(), HasSubstr("odometer of synthetic"));
  EXPECT_THAT(said(), HasSubstr("now epsilon 0.00, then at least epsilon 3.6"));
  EXPECT_FALSE(std::filesystem::exists(out())) << "a dry run makes nothing";
  EXPECT_EQ(run({"run", spec, "--dry-run", "--cap", "20", "--cap-delta", "1e-5"}), 0);
  EXPECT_THAT(said(), HasSubstr("--cap 20 lets all of this start"));
  EXPECT_EQ(run({"run", spec, "--dry-run", "--cap", "3.5", "--cap-delta", "1e-5"}), 2);
  EXPECT_EQ(run({"run", spec, "--cap-delta", "1e-5"}), 2);
  EXPECT_THAT(complained(), HasSubstr("--cap-delta is the delta of --cap, which is missing."));

  ASSERT_EQ(::setenv("HYFREEDP_WORKER", "/bin/true", 1), 0);
  EXPECT_EQ(run({"run", spec, "--cap", "3.5", "--cap-delta", "1e-5"}), 2);
  ::unsetenv("HYFREEDP_WORKER");
  for (const char* part :
       {"hyfreedp run: the limit on synthetic", "is ε 3.5 (δ 1e-05)", "So far ε 0.00", "it may reach ε 3.6"})
    EXPECT_THAT(complained(), HasSubstr(part));
  EXPECT_TRUE(store()->specs().value().empty());
  for (const char* cap : {"-1", "inf", "nan", "many"}) {
    EXPECT_EQ(run({"run", spec, "--cap", cap}), 2);
    EXPECT_THAT(complained(), HasSubstr("--cap"));
  }
}

TEST_F(OdometerCommand, TheLedgerOfATable) {
  ASSERT_TRUE(small::fill(*store()));
  EXPECT_EQ(run({"table", "small", "--ledger"}), 0);
  for (const char* part : {"training", "tuning", "total", "Row A", "end-to-end DP"})
    EXPECT_THAT(said(), HasSubstr(part));
  EXPECT_FALSE(std::filesystem::exists(out() + "/small/table.md"));
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--format", "csv"},
                                               {"--format", "markdown"},
                                               {"--width", "60"},
                                               {"--ranks"},
                                               {"--paper"}}) {
    std::vector<std::string> all = {"table", "small", "--ledger"};
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_EQ(run(all), 2);
    EXPECT_THAT(complained(), HasSubstr("--ledger"));
  }
}

}  // namespace odometer_command_test
}  // namespace hyfreedp::cli
