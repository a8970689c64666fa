// A table from the store on: what a spec says, and what is said over it.
#include <gtest/gtest.h>

#include "results/table/cell_text.h"
#include "results/table/csv_writer.h"
#include "results/table/markdown_writer.h"
#include "tests/results/small_database.h"
#include "tests/results/texts.h"

namespace hyfreedp::results {
namespace settled_table_test {

class SettledTable : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::in_memory();
    ASSERT_TRUE(small::fill(*store_));
  }
  TableModel table(const json::object& overrides) {
    auto built =
        build_table(*store_, "small", {.overrides = from_json<spec::Table>(overrides, "over").value()});
    EXPECT_TRUE(built) << built.error().message;
    return std::move(*built);
  }
  // Puts the spec again, changed.
  template <class Change>
  void change_spec(const Change& change) {
    auto spec = small::spec();
    change(spec.resolved);
    spec.hash = "changed";
    ASSERT_TRUE(store_->put_spec(spec, true));
    for (int seed = 0; seed < 3; ++seed) {
      ASSERT_TRUE(
          small::conclude(*store_, small::study("a", "prodigy", 1.0, seed), 0.80 + 0.02 * seed, 0.99));
      ASSERT_TRUE(
          small::conclude(*store_, small::study("b", "hyfreedp", 1.0, seed), 0.70 + 0.01 * seed, 0.99));
      ASSERT_TRUE(
          small::conclude(*store_, small::study("c", "dp-hyper", 1.0, seed), 0.60 + 0.01 * seed, 0.99));
    }
  }
  std::unique_ptr<Store> store_;
};

TEST_F(SettledTable, LossAndTimeAreMetricsToo) {
  auto model = table({{"metric", "loss"}});
  EXPECT_NEAR(model.panels[0].rows[0].cells[0].mean, 1.25, 1e-12);
  EXPECT_EQ(text_of(model.panels[0].rows[0].cells[0]).main, "1.250 ± 0.000");
  EXPECT_TRUE(any_contains(model.notes, "Numbers are test loss of the reported run after its last step"));
  EXPECT_NEAR(*model.panels[0].rows[0].cells[0].seeds[0].accuracy, 80, 1e-9) << "still there, for the CSV";
  model = table({{"metric", "seconds"}, {"relative_to", "a"}});
  EXPECT_NEAR(model.panels[0].rows[2].cells[0].mean, 0.5, 1e-12) << "of the reported run, not of 3 to 5";
  EXPECT_NEAR(*model.panels[0].rows[2].cells[0].relation, 1, 1e-12);
  EXPECT_FALSE(model.panels[0].rows[0].cells[0].best);
}

TEST_F(SettledTable, LastCheckpointsAreAveraged) {
  const auto model = table({{"last_checkpoints", 2}});
  EXPECT_NEAR(model.panels[0].rows[0].cells[0].mean, (10 + 82) / 2.0, 1e-9) << "10 % at step 5";
  EXPECT_TRUE(any_contains(model.notes, "as a mean over its last 2 evaluations"));
  EXPECT_FALSE(any_contains(model.footnotes, "Fewer evaluations"));
  EXPECT_TRUE(any_contains(table({{"last_checkpoints", 3}}).footnotes,
                           "Fewer evaluations than the 3 that the mean is over: 2."));
}

TEST_F(SettledTable, APanelsSettingsAreOverTheSpecsAndACommandLinesOverBoth) {
  change_spec([](json::object& resolved) {
    resolved["table"] = {{"interval", "t"}, {"last_checkpoints", 2}};
    resolved["panels"].as_array()[0].as_object()["table"] = {{"last_checkpoints", 1}};
  });
  const auto settled = table({}).panels[0].table;
  EXPECT_EQ(settled.last_checkpoints, 1);
  EXPECT_EQ(settled.interval, TableSettings::IntervalKind::t);
  EXPECT_EQ(table({{"interval", "bootstrap"}}).panels[0].table.interval,
            TableSettings::IntervalKind::bootstrap);
  EXPECT_EQ(build_table(*store_, "small", {.plain = true})->panels[0].table, TableSettings{});
  EXPECT_FALSE(build_table(*store_, "small", {.overrides = {.last_checkpoints = 0}}));
}

TEST_F(SettledTable, PaperColumnsComeFromTheSpecAndSayWhatDiffers) {
  change_spec([](json::object& resolved) {
    resolved["preset"] = "small";
    resolved["table"] = {{"paper_tolerance", 3}};
    auto& row = resolved["panels"].as_array()[0].as_object()["rows"].as_array()[0].as_object();
    row["paper"] = {{"1", {{"value", 84.5}, {"sd", 0.5}, {"unit", "%"}}},
                    {"inf", {{"value", 97}, {"unit", "%"}}}};
  });
  EXPECT_FALSE(table({}).panels[0].rows[0].cells[0].paper);
  const auto model = table({{"paper", true}});
  const auto& cells = model.panels[0].rows[0].cells;
  EXPECT_NEAR(*cells[0].paper->difference, -2.5, 1e-9);
  EXPECT_EQ(cells[0].paper->in_band, true);
  EXPECT_EQ(cells[1].paper->value, 97);
  EXPECT_TRUE(any_contains(model.notes, "In band: at most 3 points."));
  EXPECT_TRUE(any_contains(model.notes, "are not the paper's (preset small)"));
  EXPECT_NE(markdown_text(document_of(model))
                .find("82.0 ± 2.0**<br>ε 0.99, n 3<br>paper 84.50 ± 0.50<br>difference -2.50, in band"),
            std::string::npos)
      << markdown_text(document_of(model));
}

// Row a at epsilon 1, whose test accuracy is 80, 82, 84.
TEST_F(SettledTable, ShiftSetsStandBeneathTheTestAccuracyBesideThePapersValues) {
  auto spec = small::spec();
  auto& panel = spec.resolved["panels"].as_array()[0].as_object();
  for (const char* id : {"near", "far"}) {
    const json::object dataset{{"name", "synthetic"}, {"options", {{"test", 30}, {"train", 0}}}};
    if (!panel.contains("ood_test")) panel["ood_test"] = json::array{};
    panel["ood_test"].as_array().push_back(json::object{{"id", id}, {"dataset", dataset}});
  }
  spec.resolved["table"] = {{"paper", true}};
  panel["rows"].as_array()[0].as_object()["paper_ood_test"] = {
      {"near", {{"1", {{"value", 60.5}, {"unit", "%"}}}, {"inf", {{"value", 70}, {"unit", "%"}}}}}};
  store_ = *Store::in_memory();
  ASSERT_TRUE(store_->put_spec(spec, true));
  for (int seed = 0; seed < 3; ++seed) {
    auto study = small::study("a", "prodigy", 1.0, seed);
    auto metrics = small::metrics(0.80 + 0.02 * seed);
    const double near = 0.6 + 0.01 * seed;
    metrics.push_back({5, "ood_test:near", "accuracy", 0.1, trial::Visibility::test});
    metrics.push_back({10, "ood_test:near", "accuracy", near, trial::Visibility::test});
    metrics.push_back({10, "ood_test:far", "accuracy", 0.5, trial::Visibility::test});
    ASSERT_TRUE(store_->put_trial(small::trial("t" + std::to_string(seed)), small::steps(), metrics));
    study.trials = {"t" + std::to_string(seed)};
    study.state = StudyState::concluded;
    study.reported_trial = study.trials.front();
    study.label = "end-to-end DP";
    study.composition = {.rule = trial::Composition::Rule::trial, .trials = {study.reported_trial}};
    study.total = study.training = small::spent(0.99, "pld");
    ASSERT_TRUE(store_->put_study(study));
  }
  const auto model = table({});
  const auto& cells = model.panels[0].rows[0].cells;
  EXPECT_NEAR(cells[0].mean, 82, 1e-9);
  ASSERT_EQ(cells[0].ood_test.size(), 2U);
  EXPECT_EQ(cells[0].ood_test[0].id, "near");
  EXPECT_NEAR(cells[0].ood_test[0].mean, 61, 1e-9);
  EXPECT_NEAR(*cells[0].ood_test[0].sd, 1, 1e-9);
  EXPECT_NEAR(*cells[0].ood_test[0].paper->difference, 0.5, 1e-9);
  const auto markdown = markdown_text(document_of(model));
  EXPECT_NE(markdown.find("ε 0.99, n 3<br>near 61.0 ± 1.0<br>paper 60.50<br>difference +0.50<br>"
                          "far 50.0 ± 0.0 |"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("not run yet<br>near paper 70.00"), std::string::npos) << markdown;
  EXPECT_TRUE(any_contains(model.notes, "nothing is selected by it. near: 30 records of synthetic; far: 30"));
  const auto csv = csv_table(model);
  EXPECT_NE(csv.find("ood_test_near,ood_test_near_sd,ood_test_near_paper,ood_test_far,ood_test_far_sd,"
                     "ood_test_far_paper\r\n"),
            std::string::npos);
  EXPECT_NE(csv.find(",61,1,60.5,50,0,\r\n"), std::string::npos) << csv;
  EXPECT_EQ(csv_table(SettledTable::table({{"paper", false}})).find("60.5"), std::string::npos);
}

TEST_F(SettledTable, OfAnotherPresetNoDifferenceIsShown) {
  change_spec([](json::object& resolved) {
    resolved["preset"] = "small";
    for (auto& row : resolved["panels"].as_array()[0].as_object()["rows"].as_array())
      row.as_object()["paper"] = {{"1", {{"value", 20}, {"unit", "%"}}}};
  });
  const auto model = table({{"paper", true}});
  EXPECT_EQ(markdown_text(document_of(model)).find("difference +"), std::string::npos)
      << markdown_text(document_of(model));
  EXPECT_NE(markdown_text(document_of(model)).find("paper 20.00<br>rank 1 of 3, paper's 2"),
            std::string::npos)
      << markdown_text(document_of(model));
  EXPECT_TRUE(any_contains(model.notes, "so no difference is shown"));
  EXPECT_FALSE(any_contains(model.notes, "No paper's value"));
}

TEST_F(SettledTable, APresetWithoutPapersValuesSaysSo) {
  change_spec([](json::object& resolved) { resolved["preset"] = "smoke"; });
  EXPECT_TRUE(any_contains(table({{"paper", true}}).notes,
                           "No paper's value stands beside these rows: preset smoke has none."));
  EXPECT_FALSE(any_contains(table({}).notes, "No paper's value"));
}

TEST_F(SettledTable, PaperColumnsStandByThemselvesWhereTheSpecReproducesAPaper) {
  const auto reproduce = [](json::object& resolved) {
    resolved["reproduces"] = {{"paper", "hyfreedp"}, {"id", "table 2"}};
    auto& row = resolved["panels"].as_array()[0].as_object()["rows"].as_array()[0].as_object();
    row["paper"] = {{"1", {{"value", 84.5}, {"unit", "%"}}}};
  };
  change_spec(reproduce);
  EXPECT_TRUE(table({}).panels[0].rows[0].cells[0].paper);
  EXPECT_FALSE(table({{"paper", false}}).panels[0].rows[0].cells[0].paper);
  EXPECT_EQ(build_table(*store_, "small", {.plain = true})->panels[0].table, TableSettings{});
}

TEST_F(SettledTable, CsvHasTheFieldsOnlyWhereTheyAreAskedFor) {
  EXPECT_EQ(csv_table(table({})).find("metric,"), std::string::npos);
  const auto text = csv_table(table({{"ranks", true}, {"metric", "loss"}}));
  EXPECT_NE(text.find(",notes,metric,value_mean,value_sd,values,"), std::string::npos);
  EXPECT_NE(text.find(",loss,1.25,0,1.25 1.25 1.25,1,"), std::string::npos) << text;
  EXPECT_NE(text.find("small,p,a,prodigy,Row A,1,value,82,2"), std::string::npos)
      << "accuracies stay accuracies";
}

TEST_F(SettledTable, RowsOfAGroupAreAnOraclesToChooseFrom) {
  EXPECT_FALSE(any_contains(table({}).notes, "oracle's choice"));
  change_spec([](json::object& resolved) {
    auto& rows = resolved["panels"].as_array()[0].as_object()["rows"].as_array();
    for (std::size_t i = 0; i < 2; ++i) rows[i].as_object()["group"] = "rates";
  });
  const auto model = table({});
  EXPECT_TRUE(any_contains(model.notes, "Rows of group rates are candidates"));
  EXPECT_TRUE(any_contains(model.notes, "oracle's choice"));
  EXPECT_FALSE(model.panels[0].rows[0].cells[0].best) << "it was, by itself";
  EXPECT_FALSE(any_contains(table({{"groups", "median"}}).notes, "Rows of group rates are candidates"))
      << "none stands alone";
}

TEST_F(SettledTable, GroupsWithPrivateSelectionAreRefused) {
  change_spec([](json::object& resolved) {
    for (auto& row : resolved["panels"].as_array()[0].as_object()["rows"].as_array())
      row.as_object()["group"] = "g";
  });
  const auto built = build_table(*store_, "small", {.overrides = {.groups = TableSettings::Groups::max}});
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().message.find("privately selected"), std::string::npos);
}

TEST_F(SettledTable, NotesSaySelectionAndSplitAndNameEachAccountantOnce) {
  const auto notes = table({}).notes;
  EXPECT_TRUE(any_contains(notes, "Selection: Row C: private selection, the best noised validation score"));
  EXPECT_TRUE(any_contains(notes, "Split: 1000 private training"));
  EXPECT_TRUE(any_contains(notes, "Accountant: pld, rdp (the smaller of the PLD and RDP upper bounds)."));
  EXPECT_FALSE(any_contains(notes, "Noise was set")) << "rows of versions that did not record it";
}

TEST_F(SettledTable, NotesAndCsvSayWhichAccountantSetTheNoise) {
  const auto noise_note = [&](const std::map<std::string, std::string>& by) {
    auto spec = small::spec();
    for (const auto& [row, accountant] : by) spec.hash += row + accountant;
    EXPECT_TRUE(store_->put_spec(spec, true));
    for (const auto& [row, accountant] : by) {
      auto study = small::study(row, row == "c" ? "dp-hyper" : "prodigy", 1.0, 0);
      study.total = accounting::ReportedEpsilon{.noise_accountant = accountant};
      EXPECT_TRUE(small::conclude(*store_, study, row == "a" ? 0.8 : row == "b" ? 0.7 : 0.6, 0.99));
    }
    for (const auto& note : table({}).notes) {
      const auto at = note.find("Noise was set");
      if (at != std::string::npos) return note.substr(at);
    }
    return std::string();
  };
  EXPECT_EQ(noise_note({{"a", ""}, {"c", ""}}), "");
  EXPECT_EQ(csv_table(table({})).find("noise_accountant"), std::string::npos);
  EXPECT_EQ(noise_note({{"a", "pld"}, {"b", "pld"}, {"c", "pld"}}), "Noise was set by pld.");
  EXPECT_EQ(noise_note({{"a", ""}, {"b", ""}, {"c", "rdp"}}),
            "Noise was set by rdp (not recorded of these rows: Row \"B\", quoted; Row A).");
  EXPECT_EQ(noise_note({{"a", "pld"}, {"b", "pld"}, {"c", "rdp"}}),
            "Noise was set by pld, but by rdp in these rows: Row C.");
  const auto text = csv_table(table({}));
  EXPECT_NE(text.find(",noise_accountant\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",rdp\r\n"), std::string::npos) << text;
}

}  // namespace settled_table_test
}  // namespace hyfreedp::results
