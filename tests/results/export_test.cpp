#include "results/export.h"

#include <gtest/gtest.h>
#include <sstream>

#include "results/cell_text.h"
#include "results/ledger.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace {

class Export : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::in_memory();
    ASSERT_TRUE(small::fill(*store_));
  }
  std::string rows(const ExportOptions& options = {}) { return *export_rows(*store_, "small", options); }
  std::unique_ptr<Store> store_;
};

TEST_F(Export, OneLineOfJsonAStudy) {
  std::istringstream in(rows());
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto value = parse_json(line, "line");
    ASSERT_TRUE(value) << line;
    EXPECT_EQ(canonical_json(*value), line);
  }
  EXPECT_EQ(lines, 1 + 15);
}

TEST_F(Export, TimesAreLeftOutUnlessAskedFor) {
  for (const char* key : {"\"seconds\"", "\"fingerprint\"", "\"attempts\""}) {
    EXPECT_EQ(rows().find(key), std::string::npos) << key;
    EXPECT_NE(rows({.times = true}).find(key), std::string::npos) << key;
  }
}

TEST_F(Export, TheHashOfTheLastStepIsThere) {
  EXPECT_NE(rows().find("\"last_step_hash\":\"h1\""), std::string::npos);
}

TEST_F(Export, ConfidentialValuesNeverLeak) {
  EXPECT_EQ(rows({.times = true}).find(small::kPlantedDigits), std::string::npos);
  EXPECT_EQ(rows({.times = true}).find("trial-study-c-1-0-1"), std::string::npos) << "a losing run";
  EXPECT_EQ(rows({.times = true}).find("CONFIDENTIAL"), std::string::npos);
  const auto open = rows({.confidential = true});
  EXPECT_NE(open.find(small::kPlantedDigits), std::string::npos);
  EXPECT_NE(open.find("trial-study-c-1-0-1"), std::string::npos);
  EXPECT_NE(open.find("CONFIDENTIAL"), std::string::npos);
}

TEST_F(Export, TheTimeOfAllRunsOfASelectionStaysSecret) {
  std::istringstream in(rows({.times = true}));
  for (std::string line; std::getline(in, line);) {
    const auto object = parse_json(line, "line")->as_object();
    EXPECT_EQ(object.contains("seconds"),
              string_or(object, "state", "") == "concluded" && string_or(object, "row", "") != "c")
        << line;
  }
}

TEST_F(Export, EventsReadBackAsEvents) {
  const auto value = export_events(*store_, "trial-study-a-1-0-0", false);
  ASSERT_TRUE(value) << value.error().message;
  const auto events = accounting::events_from_json(*value, "export");
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(canonical_json(accounting::events_to_json(*events)), canonical_json(*value));
  EXPECT_EQ(events->events.size(), 1u);
}

TEST_F(Export, ALosingRunIsConfidential) {
  EXPECT_TRUE(export_events(*store_, "trial-study-c-1-0-0", false)) << "the reported run";
  const auto losing = export_events(*store_, "trial-study-c-1-0-1", false);
  ASSERT_FALSE(losing);
  EXPECT_NE(losing.error().message.find("--confidential"), std::string::npos);
  EXPECT_TRUE(export_events(*store_, "trial-study-c-1-0-1", true));
}

// Of a replaced, open or lost study: what no row speaks for may be a losing run.
TEST_F(Export, ARunThatNoRowSpeaksForIsConfidential) {
  ASSERT_TRUE(store_->put_trial(small::trial("orphan"), small::steps(), small::metrics(0.5)));
  EXPECT_FALSE(export_events(*store_, "orphan", false));
  EXPECT_TRUE(export_events(*store_, "orphan", true));
  auto open = small::study("c", "dp-hyper", 2.0, 0);
  open.id = "open";
  open.trials = {"orphan"};
  ASSERT_TRUE(store_->put_study(open));
  EXPECT_FALSE(export_events(*store_, "orphan", false)) << "its study is open";
  auto grid = small::study("a", "prodigy", 2.0, 0);
  grid.id = "grid";
  grid.trials = {"orphan"};
  grid.state = StudyState::failed;
  grid.composition = {{"rule", "none"}, {"trials", json::array{}}};
  ASSERT_TRUE(store_->put_study(grid));
  EXPECT_TRUE(export_events(*store_, "orphan", false)) << "a row whose runs are public lists it";
}

TEST_F(Export, AnUnknownTrialIsAnError) { EXPECT_FALSE(export_events(*store_, "nobody", false)); }

TEST(Ledger, TuningIsWhatTheTotalAddsToTheReportedRun) {
  LedgerLine line;
  line.total.epsilon = 3;
  EXPECT_FALSE(line.tuning());
  line.training = 1;
  EXPECT_EQ(line.tuning(), 2);
  line.training = 3.5;  // another accountant's bound
  EXPECT_EQ(line.tuning(), 0);
}

TEST_F(Export, TheLedgerHasALineForEachPrivateCell) {
  const auto table = build_table(*store_, "small");
  ASSERT_TRUE(table);
  const auto lines = ledger_lines(*store_, *table);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ((*lines)[1].total.epsilon, 1.3) << "the seed that spent most";
  EXPECT_EQ((*lines)[2].composition, "private selection");
  EXPECT_NE((*lines)[0].events.find("10 × Poisson q = 0.1"), std::string::npos) << (*lines)[0].events;
  EXPECT_EQ((*lines)[0].sampler, "poisson");
  EXPECT_EQ((*lines)[0].label, "end-to-end DP");
  for (const auto& line : *lines) {
    ASSERT_TRUE(line.training && line.tuning());
    EXPECT_GE(*line.tuning(), 0);
    EXPECT_NEAR(*line.tuning() + *line.training, std::max(line.total.epsilon, *line.training), 1e-12);
  }
  const auto text = ledger_text(*table, *lines);
  for (const char* part : {"training", "tuning", "total", "δ = 1e-05", "add or remove one record", "Row C",
                           "poisson; end-to-end DP", "outside the mechanism", "hyfreedp odometer"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(Export, ALongRowNameShiftsNoColumnOfTheLedger) {
  const auto table = build_table(*store_, "small");
  auto lines = ledger_lines(*store_, *table);
  ASSERT_TRUE(lines);
  (*lines)[0].title = "a row whose name is rather longer than any column would be";
  const auto text = ledger_text(*table, *lines);
  std::vector<std::size_t> begins;  // of the last column
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    for (const char* last : {"sampler; label", "poisson; "}) {
      if (const auto at = line.find(last); at != std::string::npos)
        begins.push_back(display_width(line.substr(0, at)));
    }
  }
  ASSERT_GE(begins.size(), 3u) << text;
  for (const auto begin : begins) EXPECT_EQ(begin, begins[0]) << text;
}

}  // namespace
}  // namespace hyfreedp::results
