#include "results/provenance/export.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <sstream>

#include "harness/base/text.h"
#include "results/provenance/ledger.h"
#include "results/table/cell_text.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace export_test {

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
  for (const char* key :
       {"\"seconds\"", "\"peak_bytes\"", "\"device_peak_bytes\"", "\"fingerprint\"", "\"attempts\""}) {
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

// The fields of each line; none of these values needs quotes.
std::vector<std::vector<std::string>> lines_of(const std::string& csv) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(csv);
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.ends_with('\r')) << line;
    line.pop_back();
    lines.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) lines.back().push_back(field);
  }
  return lines;
}

TEST_F(Export, ValuesAreOneNumberALine) {
  const auto csv = *export_values(*store_, "small", {});
  const auto lines = lines_of(csv);
  EXPECT_EQ(lines[0],
            (std::vector<std::string>{"spec", "panel", "row", "epsilon", "seed", "step", "metric", "value"}));
  for (const auto& line : lines) EXPECT_EQ(line.size(), 8u) << join(line, ",");
  const auto has = [&](const std::vector<std::string>& line) { return std::ranges::count(lines, line) == 1; };
  EXPECT_TRUE(has({"small", "p", "a", "1", "0", "", "epsilon_spent", "0.99"})) << csv;
  EXPECT_TRUE(has({"small", "p", "a", "1", "0", "5", "test_accuracy_percent", "10"})) << csv;
  EXPECT_TRUE(has({"small", "p", "a", "1", "0", "10", "test_accuracy_percent", "80"})) << csv;
  EXPECT_TRUE(has({"small", "p", "a", "1", "0", "10", "test_loss", "1.25"})) << csv;
  EXPECT_TRUE(has({"small", "p", "a", "inf", "2", "10", "test_accuracy_percent", "90"})) << csv;
  EXPECT_TRUE(has({"small", "p", "b", "1", "0", "", "epsilon_claimed", "1"})) << csv;
  EXPECT_TRUE(has({"small", "p", "b", "1", "1", "", "failed.diverged", "1"})) << csv;
  EXPECT_EQ(csv.find(",eta,"), std::string::npos);
}

TEST_F(Export, ValuesHaveNoRoundingNoise) {
  auto study = small::study("a", "prodigy", 2.0, 0);
  study.id = "noisy";
  ASSERT_TRUE(small::conclude(*store_, study, 0.8535, 2.0 / 3));
  const auto csv = *export_values(*store_, "small", {});
  EXPECT_NE(csv.find("test_accuracy_percent,85.35\r\n"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("85.350000"), std::string::npos) << csv;
  // An upper bound is not rounded down.
  EXPECT_NE(csv.find("epsilon_spent,0.6666666666666666\r\n"), std::string::npos) << csv;
}

TEST_F(Export, ValuesShowWhatEachStepReleasedWhereAskedFor) {
  const auto of_a = *export_values(*store_, "small", {.steps = true});
  EXPECT_NE(of_a.find("small,p,a,1,0,1,d,2e-06\r\n"), std::string::npos) << of_a;
  auto trial = small::trial("raw");
  ASSERT_TRUE(store_->put_trial(trial, {{0, "h", {{"eta", 0.5}, {"loss_0", 3.25}}}}, small::metrics(0.5)));
  auto study = small::study("a", "prodigy", std::nullopt, 7);
  study.state = StudyState::concluded;
  study.trials = {"raw"};
  study.reported_trial = "raw";
  study.composition = {.rule = trial::Composition::Rule::none};
  ASSERT_TRUE(store_->put_study(study));
  const auto shown = *export_values(*store_, "small", {.steps = true});
  EXPECT_NE(shown.find("small,p,a,inf,7,0,eta,0.5\r\n"), std::string::npos);
  EXPECT_EQ(shown.find("loss_0"), std::string::npos) << "a raw loss of a run without noise";
  EXPECT_NE(export_values(*store_, "small", {.steps = true, .confidential = true})->find("loss_0"),
            std::string::npos);
}

// A line for each of CSV's, with the same values.
TEST_F(Export, ValuesAsJsonLinesAreThoseOfTheCsv) {
  auto study = small::study("a", "prodigy", 2.0, 0);
  study.id = "noisy";
  ASSERT_TRUE(small::conclude(*store_, study, 0.8535, 2.0 / 3));
  study.id = "broken";
  study.seed = 1;
  ASSERT_TRUE(small::conclude(*store_, study, std::nan(""), std::numeric_limits<double>::infinity()));
  const auto csv = lines_of(*export_values(*store_, "small", {.steps = true}));
  const auto jsonl = *export_values(*store_, "small", {.format = ValueFormat::jsonl, .steps = true});
  std::istringstream in(jsonl);
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) {
    const auto value = parse_json(line, "line");
    ASSERT_TRUE(value) << line;
    EXPECT_EQ(canonical_json(*value), line);
    const auto& object = value->as_object();
    EXPECT_EQ(object.size(), 8u) << line;
    ASSERT_LT(++lines, csv.size());
    const auto& fields = csv[lines];
    EXPECT_EQ(object.at("spec"), json::value(fields[0]));
    EXPECT_EQ(object.at("panel"), json::value(fields[1]));
    EXPECT_EQ(object.at("row"), json::value(fields[2]));
    EXPECT_EQ(object.at("epsilon").is_null(), fields[3] == "inf") << line;
    EXPECT_EQ(object.at("seed"), json::value(std::stoll(fields[4])));
    EXPECT_EQ(object.at("step").is_null(), fields[5].empty()) << line;
    EXPECT_EQ(object.at("metric"), json::value(fields[6]));
    const auto number = to_double(object.at("value"), line);
    ASSERT_TRUE(number) << line;
    EXPECT_EQ(fmt::format("{}", *number), fmt::format("{}", std::stod(fields[7]))) << line;
  }
  EXPECT_EQ(lines + 1, csv.size());
  EXPECT_NE(jsonl.find("\"value\":85.35}"), std::string::npos) << jsonl;
  EXPECT_NE(jsonl.find("\"value\":0.6666666666666666}"), std::string::npos)
      << "an upper bound is not rounded down";
  EXPECT_EQ(jsonl.find("watermark"), std::string::npos);
  const auto open = *export_values(*store_, "small", {.format = ValueFormat::jsonl, .confidential = true});
  std::istringstream marked(open);
  for (std::string line; std::getline(marked, line);) {
    EXPECT_NE(line.find("\"watermark\":\"CONFIDENTIAL"), std::string::npos) << line;
  }
}

// Under private selection three, four and five runs look alike.
TEST_F(Export, ValuesTellNothingOfAPrivateSelection) {
  const auto csv = *export_values(*store_, "small", {.steps = true});
  EXPECT_EQ(csv.find(small::kPlantedDigits), std::string::npos);
  EXPECT_EQ(csv.find("watermark"), std::string::npos);
  std::map<std::string, int> count;  // lines by seed
  for (const auto& line : lines_of(csv)) {
    if (line[2] == "c") ++count[line[4]];
  }
  ASSERT_EQ(count.size(), 3u);
  EXPECT_EQ(count["0"], count["1"]);
  EXPECT_EQ(count["0"], count["2"]);
  const auto open = *export_values(*store_, "small", {.confidential = true});
  EXPECT_NE(open.find("private_validation_accuracy_percent,65.4321,CONFIDENTIAL"), std::string::npos) << open;
  EXPECT_TRUE(open.substr(0, open.find('\r')).ends_with(",watermark"));
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
  grid.composition = {.rule = trial::Composition::Rule::none};
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

// A row of a search paid for all its runs, and shows what it paid for.
TEST_F(Export, TheLedgerShowsTheEventsOfASearch) {
  const auto put = [&](const std::string& id, double noise, std::int64_t count) {
    auto trial = small::trial(id);
    trial.events = {accounting::poisson_gaussian(0.1, noise, count)};
    ASSERT_TRUE(store_->put_trial(trial, small::steps(), small::metrics(0.5)));
  };
  put("search-1", 8, 4);
  put("search-2", 8, 5);
  put("final", 2, 10);
  auto study = small::study("a", "linear-scaling", 1.0, 0);
  study.id = "search";
  study.seed = 5;
  study.state = StudyState::concluded;
  study.trials = {"search-1", "search-2", "final"};
  study.reported_trial = "final";
  study.label = "end-to-end DP";
  study.total = study.training = small::spent(1.5, "pld");
  using Rule = trial::Composition::Rule;
  const auto events = [&](const trial::Composition& composition) {
    auto changed = study;
    changed.composition = composition;
    changed.id = "search-" + name_of(*composition.rule);
    changed.seed = static_cast<std::int64_t>(5 + changed.id.size());
    EXPECT_TRUE(store_->put_study(changed));
    auto spec = small::spec();
    auto table = *build_table(*store_, "small");
    table.panels[0].rows.resize(1);
    auto& cell = table.panels[0].rows[0].cells[0];
    cell.seeds = {{.seed = changed.seed,
                   .study = changed.id,
                   .trial = "final",
                   .epsilon = 1.5,
                   .failure_kind = "",
                   .failure_message = ""}};
    table.panels[0].rows[0].cells.resize(1);
    return ledger_lines(*store_, table)->at(0).events;
  };
  EXPECT_EQ(events({.rule = Rule::sum, .trials = {"search-1", "search-2", "final"}}),
            "3 runs: 9 × Poisson q = 0.1: σ = 8; 10 × Poisson q = 0.1: σ = 2");
  EXPECT_EQ(events({.rule = Rule::trial, .trials = {"final"}}),
            "10 × Poisson q = 0.1: σ = 2; not charged, 2 further runs: 9 × Poisson q = 0.1: σ = 8");
  EXPECT_EQ(events({.rule = Rule::selection, .selection = accounting::Selection{.mean = 4}}),
            "selection, 4 runs on average, of (10 × Poisson q = 0.1: σ = 2)");
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

}  // namespace export_test
}  // namespace hyfreedp::results
