// Cells found by name, and what a trace tells of them.
#include "results/provenance/trace.h"

#include <gtest/gtest.h>

#include "harness/mechanism/releases.h"
#include "harness/trial/privacy_plan.h"
#include "results/provenance/ledger.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace trace_test {

class Trace : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::in_memory();
    ASSERT_TRUE(small::fill(*store_, {"stuck at d0"}));
  }

  CellTrace trace(const std::string& row, const std::string& column, bool confidential = false) {
    auto traced = trace_cell(*store_, "small", {.panel = {}, .row = row, .column = column}, confidential);
    EXPECT_TRUE(traced) << traced.error().message;
    return traced ? *traced : CellTrace{};
  }
  std::string refusal(const std::string& spec, const CellRequest& request) {
    const auto traced = trace_cell(*store_, spec, request);
    EXPECT_FALSE(traced);
    return traced ? "" : traced.error().message;
  }
  static void expect_holds(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }

  std::unique_ptr<Store> store_;
};

TEST_F(Trace, SaysWhatIsBehindTheCell) {
  const auto text = trace_text(trace("a", "1"));
  for (const char* part :
       {"82.0 ± 2.0", "ε 0.99, n 3", "hash feedface", "hyfreedp 0.1.0", "device cpu", "seed 1: 82.0000 %",
        "study-a-1-1, concluded", "10.00 (5), 82.00 (10)", "the reported run alone", "total 0.990000 by pld",
        "training 0.990000", "tuning 0.000000", "10 × Poisson q = 0.1: ", "σ = 1.5", "stuck at d0",
        "1 asked for", "trial-study-a-1-2-0", "optimizer   prodigy"}) {
    expect_holds(text, part);
  }
}

// The split that every training event has is not worth a word; another one is.
TEST_F(Trace, NamesASplitOtherThanTheTrainingSplit) {
  EXPECT_EQ(trace_text(trace("a", "1")).find("(on "), std::string::npos) << trace_text(trace("a", "1"));
  trial::PrivacyPlan plan;
  plan.population = 100;
  plan.batch_size = 10;
  plan.sample_rate = 0.1;
  plan.gradient_noise = 1.5;
  auto events = mechanism::events(plan, 0, 10);
  EXPECT_EQ(describe_events(events), "10 × Poisson q = 0.1: gradient σ = 1.5");
  events.front().split = "private_validation";
  EXPECT_EQ(describe_events(events), "10 × Poisson q = 0.1: gradient σ = 1.5 (on private_validation)");
}

TEST_F(Trace, FootnotesKeepTheirNumbersInTheTable) {
  const auto table = build_table(*store_, "small");
  ASSERT_TRUE(table);
  const auto traced = trace("b", "1");
  ASSERT_GE(traced.footnotes.size(), 2u);
  for (const auto& note : traced.footnotes) {
    const auto number = static_cast<std::size_t>(std::stoi(note.substr(1)));
    EXPECT_EQ(note, "[" + std::to_string(number) + "] " + table->footnotes.at(number - 1));
  }
}

TEST_F(Trace, AFailedSeedSaysWhy) {
  const auto traced = trace("b", "1");
  ASSERT_EQ(traced.seeds.size(), 3u);
  EXPECT_FALSE(traced.seeds[1].value);
  EXPECT_EQ(traced.seeds[1].failure, "diverged: the weights were not finite at step 7.");
  EXPECT_EQ(traced.cell.n, 2);
  expect_holds(trace_text(traced), "seed 1: no value");
}

TEST_F(Trace, AGroupIsNoRowAndItsRowsAreNamed) {
  auto record = small::spec();
  record.hash = "grouped";
  record.resolved["table"] = {{"groups", "median"}, {"metric", "loss"}};
  auto& rows = record.resolved["panels"].as_array()[0].as_object()["rows"].as_array();
  for (std::size_t i = 0; i < 2; ++i) rows[i].as_object()["group"] = "mine";
  ASSERT_TRUE(store_->put_spec(record, true));
  for (int seed = 0; seed < 3; ++seed)
    ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", 1.0, seed), 0.80 + 0.02 * seed, 0.99, 1,
                                {"stuck at d0"}));
  for (const char* name : {"mine", "mine, median of 2"})
    expect_holds(refusal("small", {.panel = {}, .row = name, .column = "1"}), "Name one of them: a, b.");
  const auto traced = trace("a", "1");
  EXPECT_EQ(traced.metric, "loss") << "the table's own metric, also of a row that it folds";
  EXPECT_NEAR(traced.cell.mean, 1.25, 1e-12);
  expect_holds(refusal("small", {.panel = {}, .row = "min", .column = "1"}), "has no row 'min'");
}

TEST_F(Trace, ConfigsAreToldByWhatDiffers) {
  auto study = small::study("a", "prodigy", 1.0, 0);
  study.id = "grid";
  study.seed = 3;
  auto record = small::spec();
  record.name = "grid";
  record.resolved["panels"].as_array()[0].as_object()["rows"].as_array()[0].as_object()["seeds"] =
      json::array{3};
  ASSERT_TRUE(store_->put_spec(record));
  study.spec = "grid";
  for (const char* id : {"one", "two", "three"}) {
    auto run = small::trial(id);
    if (std::string(id) == "two") {
      run.config["steps"] = 20;
      run.peak_bytes = 412'000'000;
    }
    if (std::string(id) == "three") run.config["optimizer"].as_object()["options"] = {{"d0", 0.5}};
    ASSERT_TRUE(store_->put_trial(run, {}, small::metrics(0.5)));
    study.trials.emplace_back(id);
  }
  study.state = StudyState::concluded;
  study.reported_trial = "two";
  study.composition = {.rule = trial::Composition::Rule::sum, .trials = {"one", "two", "three"}};
  study.total = small::spent(3, "pld");
  study.total->noise_accountant = "rdp";
  study.training = small::spent(1, "pld");
  study.label = "end-to-end DP";
  study.seconds = 1.5;
  ASSERT_TRUE(store_->put_study(study));
  const auto traced = trace_cell(*store_, "grid", {.panel = "p", .row = "Row A", .column = "1.0"});
  ASSERT_TRUE(traced) << traced.error().message;
  const auto& seed = traced->seeds.at(0);
  ASSERT_EQ(seed.runs.size(), 3u);
  EXPECT_EQ(seed.runs[0].id, "two") << "the reported run comes first";
  EXPECT_TRUE(seed.runs[0].differences.empty());
  EXPECT_EQ(seed.runs[1].differences, std::vector<std::string>{"steps 10"});
  EXPECT_EQ(seed.runs[2].differences, (std::vector<std::string>{"optimizer.options.d0 0.5", "steps 10"}));
  EXPECT_EQ(seed.tuning, 2.0);
  const auto text = trace_text(*traced);
  for (const char* part :
       {"3 asked for, 1.5 s", "500 ms; 412 MB; reported", "3 runs in sequence", "tuning 2.000000",
        "total 3.000000 by pld at δ = 1e-05 (at least 2.970000), noise set by rdp, training"})
    expect_holds(text, part);
}

TEST_F(Trace, ASelectionTellsNothingConfidential) {
  const auto traced = trace("c", "1");
  for (const auto& text : {trace_text(traced), canonical_json(trace_json(traced))}) {
    EXPECT_EQ(text.find("-1-0-1"), std::string::npos) << "a losing run: " << text;
    EXPECT_EQ(text.find(small::kPlantedDigits), std::string::npos) << text;
    EXPECT_EQ(text.find("65.43"), std::string::npos) << text;
    EXPECT_EQ(text.find("asked for"), std::string::npos) << text;
    EXPECT_EQ(text.find("CONFIDENTIAL"), std::string::npos);
    expect_holds(text, "confidential");
    expect_holds(text, "trial-study-c-1-0-0");
  }
  for (const auto& seed : traced.seeds) {
    EXPECT_EQ(seed.runs.size(), 1u);
    EXPECT_FALSE(seed.seconds) << "the time of all runs gives away how many there were";
  }
  const auto open = trace_text(trace("c", "1", true));
  for (const char* part : {"CONFIDENTIAL", "5 asked for", "trial-study-c-1-0-1", "65.43"})
    expect_holds(open, part);
}

TEST_F(Trace, AnUnfinishedSelectionShowsNoRun) {
  auto open = small::study("c", "dp-hyper", 1.0, 0);
  open.id = "open";
  open.spec = "fresh";
  open.trials = {"trial-study-c-1-0-1"};
  auto record = small::spec();
  record.name = "fresh";
  ASSERT_TRUE(store_->put_spec(record));
  ASSERT_TRUE(store_->put_study(open));
  const auto traced = trace_cell(*store_, "fresh", {.panel = "", .row = "c", .column = "1"});
  ASSERT_TRUE(traced);
  const auto text = trace_text(*traced);
  EXPECT_EQ(text.find("trial-study"), std::string::npos) << text;
  expect_holds(text, "none is shown before");
  expect_holds(text, "not begun");
  expect_holds(text, "not known yet");
}

// Its runs may have released much.
TEST_F(Trace, ARowThatLostARunHasNoEpsilonYet) {
  auto lost = small::study("a", "prodigy", 1.0, 0);
  lost.id = "lost";
  lost.spec = "fresh";
  lost.state = StudyState::failed;
  lost.failure_kind = "killed";
  lost.failure_message = "The run was lost.";
  lost.composition = {.rule = trial::Composition::Rule::none};
  auto record = small::spec();
  record.name = "fresh";
  ASSERT_TRUE(store_->put_spec(record));
  for (const bool has_run : {true, false}) {
    lost.trials = has_run ? std::vector<std::string>{"trial-study-a-1-0-0"} : std::vector<std::string>{};
    ASSERT_TRUE(store_->put_study(lost));
    EXPECT_EQ(has_unpriced_runs(*store_, lost).value(), has_run);
    const auto text = trace_text(*trace_cell(*store_, "fresh", {.panel = "", .row = "a", .column = "1"}));
    expect_holds(text,
                 has_run ? "epsilon     not known yet" : "epsilon     none: nothing private was released");
    if (has_run) expect_holds(text, "composition not known, for the row has no end yet");
  }
  // A worker had begun the run, and what it executed was not recorded.
  TrialRecord begun = *store_->trial("trial-study-a-1-0-0").value();
  begun.id = "begun";
  begun.state = trial::TrialState::running;
  begun.events.clear();
  begun.charged.clear();
  begun.begun_after = 0;
  ASSERT_TRUE(store_->put_trial(begun, {}, {}));
  lost.trials = {"begun"};
  EXPECT_TRUE(has_unpriced_runs(*store_, lost).value());
}

TEST_F(Trace, OtherNamesAreRefusedWithTheValidOnes) {
  const auto holds = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts) expect_holds(text, part);
  };
  holds(refusal("smal", {.panel = "", .row = "a", .column = "1"}),
        {"Did you mean 'small'?", "it has: small"});
  holds(refusal("small", {.panel = "q", .row = "a", .column = "1"}), {"no panel 'q'", "Panels: p"});
  holds(refusal("small", {.panel = "", .row = "d", .column = "1"}), {"no row 'd'", "Rows: a, b, c"});
  holds(refusal("small", {.panel = "", .row = "a", .column = "2"}),
        {"no column '2'", "Its columns (target ε): 1, inf."});
  holds(refusal("small", {.panel = "", .row = "a", .column = "x"}), {"no column 'x'"});
  holds(refusal("small", {.panel = "", .row = "c", .column = "inf"}),
        {"no column 'inf'", "Its columns (target ε): 1."});
}

TEST_F(Trace, TheFirstPanelThatHasTheCellIsTaken) {
  auto record = small::spec();
  record.name = "two";
  auto& panels = record.resolved["panels"].as_array();
  panels.push_back(panels[0]);
  panels[1].as_object()["id"] = "second";
  ASSERT_TRUE(store_->put_spec(record));
  const auto first = trace_cell(*store_, "two", {.panel = "", .row = "a", .column = "inf"});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->panel, "p");
  EXPECT_EQ(first->other_panels, std::vector<std::string>{"second"});
  EXPECT_EQ(trace_cell(*store_, "two", {.panel = "second", .row = "a", .column = "inf"})->panel, "second");
}

TEST_F(Trace, RowsThatATableFoldsAreFoundAllTheSame) {
  auto record = small::spec();
  record.name = "folded";
  record.resolved["table"] = {{"groups", "max"}};
  auto& rows = record.resolved["panels"].as_array()[0].as_object()["rows"].as_array();
  for (const std::size_t i : {0u, 1u}) rows[i].as_object()["group"] = "g";
  ASSERT_TRUE(store_->put_spec(record));
  const auto table = build_table(*store_, "folded");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->panels[0].rows[0].id, "g");
  const auto traced = trace_cell(*store_, "folded", {.panel = "", .row = "a", .column = "1"});
  ASSERT_TRUE(traced) << traced.error().message;
  EXPECT_EQ(traced->row, "a");
}

TEST_F(Trace, JsonHoldsTheSame) {
  const auto object = trace_json(trace("a", "1"));
  EXPECT_EQ(object.at("mean").to_number<double>(), trace("a", "1").cell.mean);
  EXPECT_EQ(object.at("seeds").as_array().size(), 3u);
  const auto& seed = object.at("seeds").as_array()[0].as_object();
  EXPECT_EQ(seed.at("config").as_object().at("steps").as_int64(), 10);
  EXPECT_EQ(seed.at("test").as_array().size(), 2u);
}

}  // namespace trace_test
}  // namespace hyfreedp::results
