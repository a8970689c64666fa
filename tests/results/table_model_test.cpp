#include "results/table/table_model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "results/table/best.h"
#include "results/table/cell_text.h"
#include "results/table/table_notes.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace table_model_test {

class SmallTable : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::in_memory();
    const auto filled = small::fill(*store_);
    ASSERT_TRUE(filled) << filled.error().message;
  }
  TableModel table(bool confidential = false) {
    auto built = build_table(*store_, "small", {.confidential = confidential});
    EXPECT_TRUE(built);
    return std::move(*built);
  }
  std::unique_ptr<Store> store_;
};

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& text) { return text.find(part) != std::string::npos; });
}

TEST_F(SmallTable, MeanDeviationAndCount) {
  const auto model = table();
  ASSERT_EQ(model.panels.size(), 1u);
  const auto& cell = model.panels[0].rows[0].cells[0];
  EXPECT_EQ(cell.kind, CellModel::Kind::value);
  EXPECT_NEAR(cell.mean, 82, 1e-9);
  EXPECT_NEAR(*cell.sd, 2, 1e-9);
  EXPECT_EQ(cell.n, 3);
  EXPECT_EQ(cell.label, "end-to-end DP");
  EXPECT_EQ(*cell.epsilon, 0.99);
  EXPECT_DOUBLE_EQ(*cell.seconds, 0.5);
}

// Columns of a panel whose spec fixes the noise say both numbers, whatever another panel has.
TEST_F(SmallTable, FixedNoiseIsInItsColumnsTitles) {
  auto spec = small::spec();
  spec.hash = "fixed noise";
  auto& panels = spec.resolved["panels"].as_array();
  panels.push_back(panels[0]);
  panels[1].as_object()["id"] = "q";
  auto& panel = panels[0].as_object();
  panel["epsilons"] = json::array{};
  panel["noise_multipliers"] = {4, 2};
  auto& rows = panel["rows"].as_array();
  rows[0].as_object()["epsilons"] = {1, 2.5};
  rows[1].as_object()["epsilons"] = {1, 2.5};
  rows[2].as_object()["epsilons"] = {2.5, 5.125};
  ASSERT_TRUE(store_->put_spec(spec, true));
  const auto model = table();
  const auto titles = [](const PanelModel& of) {
    std::vector<std::string> all;
    for (const auto& column : of.columns) all.push_back(column_title(of, column));
    return all;
  };
  EXPECT_EQ(titles(model.panels[0]),
            (std::vector<std::string>{"σ = 4, ε = 1", "σ = 2 or 4, ε = 2.5", "σ = 2, ε = 5.125"}));
  EXPECT_EQ(titles(model.panels[1]), (std::vector<std::string>{"ε = 1", "non-private"}));
  EXPECT_EQ(model.panels[0].rows[0].cells[0].kind, CellModel::Kind::open);
  EXPECT_EQ(model.panels[0].rows[0].cells[2].kind, CellModel::Kind::not_planned);
}

// A user's own records are not called public.
TEST_F(SmallTable, TestRecordsOfAUserAreOutsideEpsilon) {
  const auto notes = [&](const char* dataset) {
    auto spec = small::spec();
    spec.hash = dataset;
    auto& panel = spec.resolved["panels"].as_array()[0].as_object();
    panel["dataset"] = {{"name", dataset}, {"options", json::object{}}};
    panel["test"] = 40;
    EXPECT_TRUE(store_->put_spec(spec, true));
    return table().notes;
  };
  EXPECT_TRUE(any_contains(notes("cifar10"), "40 public test records"));
  EXPECT_FALSE(any_contains(notes("cifar10"), "a user's own"));
  EXPECT_TRUE(any_contains(notes("image-folder"), " 40 test records"));
  EXPECT_TRUE(
      any_contains(notes("image-folder"), "Test records that are a user's own are treated as public"));
}

// Features, too, may come from weights that have seen the records.
TEST_F(SmallTable, RecordsThatTheWeightsHaveSeenAreInANote) {
  const auto notes = [&](const char* dataset, const char* of, const char* weights) {
    auto spec = small::spec();
    spec.hash = std::string(dataset) + of + weights;
    auto& panel = spec.resolved["panels"].as_array()[0].as_object();
    panel["dataset"] = {{"name", dataset}, {"options", json::object{}}};
    panel[of] = {{"name", std::string(of) == "dataset" ? dataset : "vit"},
                 {"options", {{"weights", weights}}}};
    EXPECT_TRUE(store_->put_spec(spec, true));
    return table().notes;
  };
  const std::string note = "Records of STL-10 are part of ImageNet, on which the weights ";
  EXPECT_TRUE(any_contains(notes("stl10", "model", "vit-small-patch16-224"),
                           note + "'vit-small-patch16-224' were trained: ε does not cover"));
  EXPECT_TRUE(any_contains(notes("stl10", "dataset", "efficientnet-lite0"), note + "'efficientnet-lite0'"));
  EXPECT_FALSE(any_contains(notes("stl10", "model", "my-own"), note));
  EXPECT_FALSE(any_contains(notes("cifar10", "model", "vit-small-patch16-224"), "are part of"));
}

// The panel names its optimizer; methods may have their own, and then the head says which row ran
// with which.
TEST_F(SmallTable, TheHeadNamesTheOptimizerOfEachRowWhereTheyDiffer) {
  EXPECT_TRUE(table().panels[0].settings.ends_with(", optimizer prodigy")) << table().panels[0].settings;
  auto spec = small::spec();
  spec.hash = "other";
  spec.resolved["panels"].as_array()[0].as_object()["optimizer"] = {{"name", "adamw"},
                                                                    {"options", json::object{}}};
  ASSERT_TRUE(store_->put_spec(spec, true));
  EXPECT_TRUE(table().panels[0].settings.ends_with(", optimizer adamw")) << "asked for, of rows not run yet";
  for (const auto& [row, optimizer] : {std::pair{"a", "prodigy"}, std::pair{"c", "adamw"}}) {
    auto trial = small::trial(std::string("with-") + optimizer);
    trial.config["optimizer"] = {{"name", optimizer}};
    ASSERT_TRUE(store_->put_trial(trial, small::steps(), small::metrics(0.5)));
    auto study = small::study(row, "prodigy", 1.0, 0);
    study.state = StudyState::concluded;
    study.trials = {trial.id};
    study.reported_trial = trial.id;
    study.composition = {.rule = trial::Composition::Rule::trial, .trials = {trial.id}};
    ASSERT_TRUE(store_->put_study(study));
  }
  EXPECT_TRUE(table().panels[0].settings.ends_with(", optimizer adamw (Row A: prodigy)"))
      << table().panels[0].settings;
}

TEST_F(SmallTable, TheLastStepCounts) {
  EXPECT_NEAR(*table().panels[0].rows[0].cells[0].seeds[0].accuracy, 80, 1e-9) << "not the 10 % of step 5";
}

TEST_F(SmallTable, ColumnsAreTargetsThenTheNonPrivateArm) {
  const auto model = table();
  ASSERT_EQ(model.panels[0].columns.size(), 2u);
  EXPECT_EQ(model.panels[0].columns[0], 1.0);
  EXPECT_FALSE(model.panels[0].columns[1]);
  EXPECT_NEAR(model.panels[0].rows[0].cells[1].mean, 90, 1e-9);
  EXPECT_FALSE(model.panels[0].rows[0].cells[1].epsilon);
}

TEST_F(SmallTable, AFailedSeedIsAFootnoteAndTheLargestEpsilonIsShown) {
  const auto model = table();
  const auto& cell = model.panels[0].rows[1].cells[0];
  EXPECT_EQ(cell.n, 2);
  EXPECT_NEAR(cell.mean, 71, 1e-9);
  EXPECT_NEAR(*cell.sd, std::sqrt(2.0), 1e-9);
  EXPECT_DOUBLE_EQ(*cell.epsilon, 1.3);
  EXPECT_DOUBLE_EQ(*cell.epsilon_least, 1.2);
  EXPECT_EQ(cell.claimed_epsilon, 1.0);
  ASSERT_EQ(cell.notes.size(), 1u);
  EXPECT_EQ(model.footnotes[static_cast<std::size_t>(cell.notes[0]) - 1],
            "Seed 1 failed: diverged: the weights were not finite at step 7.");
}

TEST_F(SmallTable, WhatARunSaysOfItselfIsAFootnoteOfItsCell) {
  store_ = *Store::in_memory();
  ASSERT_TRUE(store_->put_spec(small::spec()));
  for (const std::int64_t seed : {0, 1, 2}) {
    const std::vector<std::string> notes(seed < 2 ? 1 : 0, "stuck at d0");
    ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", 1.0, seed), 0.8, 0.99, 1, notes));
  }
  ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", std::nullopt, 0), 0.9, 0));
  const auto model = table();
  const auto& cell = model.panels[0].rows[0].cells[0];
  EXPECT_EQ(cell.seeds[0].outcomes, std::vector<std::string>{"stuck at d0"});
  EXPECT_TRUE(cell.seeds[2].outcomes.empty());
  ASSERT_EQ(cell.notes.size(), 1u);
  const auto& note = model.footnotes[static_cast<std::size_t>(cell.notes[0]) - 1];
  EXPECT_TRUE(note.starts_with("Seed 0, 1: stuck at d0. The estimate ")) << note;
  EXPECT_FALSE(any_contains(model.footnotes, "Seed 0: ")) << "the non-private arm moved";
  EXPECT_EQ(explain_outcome("something new"), "something new.");
}

TEST_F(SmallTable, ACellWithoutAnySeedIsATypedFailure) {
  const auto model = table();
  const auto& cell = model.panels[0].rows[1].cells[1];
  EXPECT_EQ(cell.kind, CellModel::Kind::failed);
  EXPECT_EQ(cell.failure, "diverged");
  EXPECT_TRUE(any_contains(model.footnotes, "Seed 0, 1, 2 failed: diverged"));
}

TEST_F(SmallTable, WhatTheSpecDoesNotAskForIsNotAFailure) {
  EXPECT_EQ(table().panels[0].rows[2].cells[1].kind, CellModel::Kind::not_planned);
}

TEST_F(SmallTable, AnUnfinishedCellSaysSo) {
  auto store = *Store::in_memory();
  ASSERT_TRUE(store->put_spec(small::spec()));
  ASSERT_TRUE(store->put_study(small::study("a", "prodigy", 1.0, 0)));
  const auto model = build_table(*store, "small");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->panels[0].rows[0].cells[0].kind, CellModel::Kind::open);
  EXPECT_EQ(model->panels[0].rows[1].cells[0].kind, CellModel::Kind::open)
      << "not even planned into a study yet";
}

TEST_F(SmallTable, FlagsAreExplained) {
  const auto model = table();
  EXPECT_EQ(model.panels[0].rows[1].flags,
            (std::vector<std::string>{"paper accounting: epsilon understated"}));
  EXPECT_TRUE(any_contains(model.footnotes, "what the executed events cost"));
  EXPECT_TRUE(model.banners.empty());
}

TEST_F(SmallTable, SeededNoiseIsABannerOverEveryPrivateRow) {
  auto spec = small::spec();
  spec.hash = "seeded";
  spec.resolved["noise_seed"] = "s";
  ASSERT_TRUE(store_->put_spec(spec, true));
  ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", 1.0, 0), 0.8, 0.99));
  ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", std::nullopt, 0), 0.9, 0));
  const auto model = table();
  EXPECT_TRUE(any_contains(model.banners, kReproducibleNoise));
  EXPECT_EQ(model.panels[0].rows[0].cells[0].flags, std::vector<std::string>{kReproducibleNoise});
  EXPECT_TRUE(model.panels[0].rows[0].cells[1].flags.empty()) << "the non-private arm promises nothing";
}

TEST_F(SmallTable, NotesSayHowToReadIt) {
  const auto notes = table().notes;
  for (const char* part : {"of one row and one seed", "outside the mechanism", "add or remove one record",
                           "poisson", "pld", "rdp", "sample standard deviation", "n/a"}) {
    EXPECT_TRUE(any_contains(notes, part)) << part;
  }
}

TEST_F(SmallTable, TheRunCountOfAPrivateSelectionStaysSecret) {
  const auto model = table();
  EXPECT_DOUBLE_EQ(*model.panels[0].rows[2].cells[0].seconds, 0.5)
      << "of the reported run, not of 3 to 5 runs";
  EXPECT_FALSE(model.panels[0].rows[2].cells[0].runs);
  EXPECT_FALSE(model.panels[0].rows[0].cells[0].validation);
  const auto open = table(true);
  EXPECT_DOUBLE_EQ(*open.panels[0].rows[2].cells[0].runs, 4);
  EXPECT_DOUBLE_EQ(*open.panels[0].rows[2].cells[0].seconds, 2);
  EXPECT_NEAR(*open.panels[0].rows[0].cells[0].validation, 65.4321, 1e-9);
}

// Row a: seeds 0 and 2 are recorded. Row c: of seed 0 the reported run and a losing one.
TEST(Memory, IsTheLargestOfTheRunsThatMayBeToldOf) {
  const auto store = *Store::in_memory();
  ASSERT_TRUE(small::put_with_memory(*store, "trial-study-a-1-0-0", 300'000'000, 2'000'000'000, 0.80));
  ASSERT_TRUE(
      small::put_with_memory(*store, "trial-study-a-1-2-0", 500'000'000, 1'000'000'000, 0.80 + 0.02 * 2));
  ASSERT_TRUE(small::put_with_memory(*store, "trial-study-c-1-0-0", 400'000'000, 0, 0.60));
  ASSERT_TRUE(small::put_with_memory(*store, "trial-study-c-1-0-1", 900'000'000, 0, 0.60));
  ASSERT_TRUE(small::fill(*store));
  const auto model = build_table(*store, "small", {.confidential = false}).value();
  const auto& rows = model.panels[0].rows;
  EXPECT_EQ(rows[0].cells[0].memory.host, 500'000'000);
  EXPECT_EQ(rows[0].cells[0].memory.device, 2'000'000'000);
  EXPECT_EQ(rows[0].cells[1].memory.host, 0);
  EXPECT_EQ(memory_text(rows[0].memory), "500 MB, GPU 2 GB");
  EXPECT_EQ(memory_text(rows[1].memory), "-");
  EXPECT_EQ(rows[2].memory.host, 400'000'000) << "a losing run is confidential";
  EXPECT_TRUE(model.panels[0].shows_memory());
  EXPECT_TRUE(any_contains(model.notes, "resident memory of its process"));
}

TEST_F(SmallTable, MemoryThatNobodyRecordedIsNotShown) {
  EXPECT_FALSE(table().panels[0].shows_memory());
  EXPECT_FALSE(any_contains(table().notes, "Memory"));
}

TEST_F(SmallTable, AnUnknownSpecNamesTheNearest) {
  const auto missing = build_table(*store_, "smal");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("Did you mean 'small'?"), std::string::npos)
      << missing.error().message;
}

// Best: a made-up panel of one column.
CellModel cell_of(const std::vector<double>& accuracies, double epsilon = 1,
                  const std::string& label = "end-to-end DP") {
  CellModel cell;
  cell.epsilon_target = 1;
  cell.kind = CellModel::Kind::value;
  cell.label = label;
  cell.epsilon = epsilon;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    SeedResult seed;
    seed.seed = static_cast<std::int64_t>(i);
    seed.accuracy = seed.value = accuracies[i];
    cell.seeds.push_back(seed);
    cell.mean += accuracies[i] / static_cast<double>(accuracies.size());
  }
  return cell;
}

std::vector<bool> best_of(const std::vector<CellModel>& cells) {
  PanelModel panel;
  panel.columns = {1.0};
  for (const auto& cell : cells) {
    RowModel row;
    row.cells = {cell};
    panel.rows.push_back(row);
  }
  mark_best(panel);
  std::vector<bool> marks;
  for (const auto& row : panel.rows) marks.push_back(row.cells[0].best);
  return marks;
}

TEST(Best, IsMarkedWhereTheIntervalSaysSo) {
  EXPECT_EQ(best_of({cell_of({90.0, 90.1, 89.9}), cell_of({80.1, 80.0, 80.2})}),
            (std::vector<bool>{true, false}));
}
TEST(Best, IsNotMarkedWhereChanceMayExplainIt) {
  EXPECT_EQ(best_of({cell_of({90, 84, 87}), cell_of({86, 86.5, 85.5})}), (std::vector<bool>{false, false}));
}
TEST(Best, IsNotMarkedAtOneSeed) {
  EXPECT_EQ(best_of({cell_of({90}), cell_of({10})}), (std::vector<bool>{false, false}));
}
TEST(Best, OraclesAndRowsBeyondTheTargetDoNotCompete) {
  EXPECT_EQ(best_of({cell_of({99.0, 99.1, 99.2}, 1, "oracle"), cell_of({98.0, 98.1, 98.3}, 1.3),
                     cell_of({90.0, 90.1, 89.9}), cell_of({80.1, 80.0, 80.2})}),
            (std::vector<bool>{false, false, true, false}));
}

TEST(Best, ARowWithAFailedOrMissingSeedDoesNotCompete) {
  auto diverged = cell_of({95.0, 95.1, 94.9});
  diverged.seeds.push_back({.seed = 3, .state = StudyState::failed, .failure_kind = "diverged"});
  EXPECT_EQ(best_of({diverged, cell_of({90.0, 90.1, 89.9, 90.0}), cell_of({80.1, 80.0, 80.2, 80.1})}),
            (std::vector<bool>{false, true, false}));
  diverged.seeds.back().state = StudyState::open;
  EXPECT_EQ(best_of({diverged, cell_of({80.1, 80.0, 80.2, 80.1})}), (std::vector<bool>{false, false}));
}
TEST(Best, RowsOfAGroupDoNotCompete) {
  PanelModel panel;
  panel.columns = {1.0};
  for (const auto& cell : {cell_of({99.0, 99.1, 99.2}), cell_of({95.0, 95.3, 95.1}),
                           cell_of({90.0, 90.1, 89.9}), cell_of({80.1, 80.0, 80.2})}) {
    RowModel row;
    row.group = panel.rows.size() < 2 ? "rates" : "";
    row.cells = {cell};
    panel.rows.push_back(row);
  }
  mark_best(panel);
  EXPECT_FALSE(panel.rows[0].cells[0].best) << "chosen from the candidates by what is shown";
  EXPECT_TRUE(panel.rows[2].cells[0].best);
}

TEST_F(SmallTable, ACellOfFewerSeedsThanPlannedIsExplained) {
  EXPECT_TRUE(any_contains(table().notes, "A cell of which a planned seed failed or is missing"));
  auto again = small::spec();
  again.hash = "again";
  ASSERT_TRUE(store_->put_spec(again, true));
  for (int seed = 0; seed < 3; ++seed)
    ASSERT_TRUE(small::conclude(*store_, small::study("a", "prodigy", 1.0, seed), 0.80 + 0.02 * seed, 0.99));
  EXPECT_FALSE(any_contains(table().notes, "A cell of which a planned seed failed or is missing"));
}

}  // namespace table_model_test
}  // namespace hyfreedp::results
