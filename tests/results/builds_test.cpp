// Rows on which several builds of the program worked say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/text.h"
#include "results/provenance/trace.h"
#include "results/table/markdown_writer.h"
#include "results/table/table_model.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace builds_test {

using ::testing::HasSubstr;
using ::testing::Not;

const trial::Build kOne{"0.7.0", "aaaaaaaaaaaa", false, "0011"};
const trial::Build kOther{"0.7.0", "bbbbbbbbbbbb", true, "0022"};

// One study of `row` for each list of builds, at seeds 0, 1, ...; each list is of the runs of that
// study.
class Builds : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->put_spec(small::spec())); }

  void put(const std::string& row, const std::vector<std::vector<trial::Build>>& seeds,
           trial::Composition::Rule rule = trial::Composition::Rule::sum) {
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      auto record = small::study(row, "m", 1.0, static_cast<std::int64_t>(seed));
      for (const auto& build : seeds[seed]) {
        auto trial = small::trial(record.id + "-" + std::to_string(record.trials.size()));
        trial.builds = {build};
        ASSERT_TRUE(store_->put_trial(trial, small::steps(), small::metrics(0.8)));
        record.trials.push_back(trial.id);
      }
      record.state = StudyState::concluded;
      record.reported_trial = record.trials.front();
      record.label = "end-to-end DP";
      record.composition = {.rule = rule, .trials = record.trials};
      ASSERT_TRUE(store_->put_study(record));
    }
  }
  std::string table() const { return markdown_text(document_of(build_table(*store_, "small").value())); }
  std::string trace(const std::string& row) const {
    return trace_text(trace_cell(*store_, "small", {.panel = {}, .row = row, .column = "1"}).value());
  }

  std::unique_ptr<Store> store_ = Store::in_memory().value();
};

TEST_F(Builds, OfOneTrialAreKept) {
  auto trial = small::trial("t");
  trial.builds = {kOne, kOther};
  ASSERT_TRUE(store_->put_trial(trial, small::steps(), {}));
  EXPECT_EQ(store_->trial("t").value()->builds, trial.builds);
}

TEST_F(Builds, ARowOfSeveralHasAFootnote) {
  put("a", {{kOne}, {kOne}, {kOther}});
  put("b", {{kOne}, {kOne}, {kOne}});
  const auto text = table();
  EXPECT_THAT(text, HasSubstr("Several builds of the program worked on this row: 0.7.0, commit aaaaaaaaaaaa, "
                              "worker 0011; 0.7.0, commit bbbbbbbbbbbb with changes, worker 0022."));
  const auto model = build_table(*store_, "small").value();
  EXPECT_EQ(model.panels[0].rows[0].notes.size(), 1U);
  EXPECT_TRUE(model.panels[0].rows[1].notes.empty());
  EXPECT_THAT(trace("a"), HasSubstr("Several builds of the program worked on this row"));
}

TEST_F(Builds, ATableOfRowsOfSeveralSaysWhichIsOfWhich) {
  put("a", {{kOne}, {kOne}});
  put("b", {{kOther}, {kOther}});
  const auto text = table();
  EXPECT_THAT(text, Not(HasSubstr("worked on this row")));
  EXPECT_THAT(text, HasSubstr("Rows are of several builds of the program: 0.7.0, commit aaaaaaaaaaaa, worker "
                              "0011 (Row A); 0.7.0, commit bbbbbbbbbbbb with changes, worker 0022 (Row "));
}

TEST_F(Builds, ATableOfOneSaysNothing) {
  put("a", {{kOne}, {kOne}});
  EXPECT_THAT(table(), Not(HasSubstr("builds of the program")));
}

TEST_F(Builds, TheTraceSaysWhichRunIsOfWhich) {
  put("a", {{kOne, kOther}});
  EXPECT_THAT(trace("a"), HasSubstr("by 0.7.0, commit bbbbbbbbbbbb with changes, worker 0022"));
}

// A losing run shows in nothing, so neither does its build.
TEST_F(Builds, OfAPrivateSelectionAreThoseOfTheReportedRun) {
  put("c", {{kOne, kOther}, {kOne}}, trial::Composition::Rule::selection);
  EXPECT_THAT(table(), Not(HasSubstr("0022")));
  EXPECT_THAT(trace("c"), Not(HasSubstr("0022")));
}

// What an earlier version recorded says its version alone.
TEST_F(Builds, OfAnEarlierVersionAreItsVersion) {
  put("a", {{kOne}});
  auto record = small::study("a", "m", 1.0, 1);
  auto trial = small::trial("old");
  trial.fingerprint["version"] = "0.6.0";
  ASSERT_TRUE(store_->put_trial(trial, small::steps(), small::metrics(0.8)));
  record.trials = {"old"};
  record.reported_trial = "old";
  record.state = StudyState::concluded;
  record.composition = {.rule = trial::Composition::Rule::trial, .trials = {"old"}};
  ASSERT_TRUE(store_->put_study(record));
  EXPECT_THAT(table(), HasSubstr("worked on this row: 0.6.0, worker not recorded; 0.7.0, commit"));
}

}  // namespace builds_test
}  // namespace hyfreedp::results
