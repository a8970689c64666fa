#include "results/table/table_extras.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "results/table/best.h"
#include "results/table/cell_text.h"
#include "results/table/csv_writer.h"
#include "results/table/detectable.h"
#include "results/table/groups.h"
#include "tests/results/texts.h"

namespace hyfreedp::results {
namespace table_extras_test {

// A cell at epsilon 1 with one value a seed; no values: a failed cell.
CellModel cell_of(const std::vector<double>& values, const std::string& label = "end-to-end DP") {
  CellModel cell;
  cell.epsilon_target = cell.epsilon = 1;
  cell.label = label;
  cell.kind = values.empty() ? CellModel::Kind::failed : CellModel::Kind::value;
  cell.failure = values.empty() ? "diverged" : "";
  for (std::size_t i = 0; i < values.size(); ++i) {
    SeedResult seed;
    seed.seed = static_cast<std::int64_t>(i);
    seed.state = StudyState::concluded;
    seed.accuracy = seed.value = values[i];
    cell.seeds.push_back(seed);
  }
  cell.n = static_cast<int>(values.size());
  if (cell.n > 0) cell.mean = mean(values);
  cell.sd = sample_sd(values);
  return cell;
}

RowModel row_of(const std::string& id, const std::vector<CellModel>& cells, const std::string& group = "") {
  RowModel row;
  row.id = id;
  row.title = "Row " + id;
  row.group = group;
  row.label = cells.front().label;
  row.cells = cells;
  return row;
}

PanelModel panel_of(std::vector<RowModel> rows, const TableSettings& settings) {
  PanelModel panel;
  panel.id = "p";
  for (std::size_t i = 0; i < rows.front().cells.size(); ++i)
    panel.columns.emplace_back(static_cast<double>(i + 1));
  panel.rows = std::move(rows);
  panel.table = settings;
  return panel;
}

std::vector<std::string> extended(PanelModel& panel) {
  Footnotes footnotes;
  add_extras(panel, footnotes);
  return footnotes.take();
}

TEST(Extras, NothingIsAddedUnasked) {
  auto panel =
      panel_of({row_of("a", {cell_of({80, 82, 84})}), row_of("o", {cell_of({70, 71, 72}, "oracle")})}, {});
  panel.rows[0].cells[0].paper = PaperValue{.value = 90, .unit = "%"};
  EXPECT_TRUE(extended(panel).empty());
  const auto text = text_of(panel.rows[0].cells[0]);
  EXPECT_EQ(text.details, std::vector<std::string>{"ε 1.00, n 3"});
}

TEST(Extras, IntervalsOfEachKind) {
  TableSettings settings;
  settings.interval = TableSettings::IntervalKind::t;
  auto panel = panel_of({row_of("a", {cell_of({80, 82, 84})}), row_of("b", {cell_of({80})})}, settings);
  extended(panel);
  // Mean 82, sd 2, t(0.975, 2) = 4.302653.
  EXPECT_NEAR(panel.rows[0].cells[0].interval->low, 82 - 4.302653 * 2 / std::sqrt(3.0), 1e-5);
  EXPECT_FALSE(panel.rows[1].cells[0].interval) << "one seed has none";
  EXPECT_EQ(text_of(panel.rows[0].cells[0]).details.back(), "interval [77.0, 87.0]");
  panel.table.interval = TableSettings::IntervalKind::bootstrap;
  extended(panel);
  EXPECT_GT(panel.rows[0].cells[0].interval->low, 79.9);
}

TEST(Extras, DifferencesToARowArePaired) {
  TableSettings settings;
  settings.relative_to = "b";
  auto panel =
      panel_of({row_of("a", {cell_of({81, 92, 73})}), row_of("b", {cell_of({80, 90, 70})})}, settings);
  extended(panel);
  const auto& cell = panel.rows[0].cells[0];
  EXPECT_NEAR(*cell.relation, 2, 1e-12);
  EXPECT_NEAR(cell.relation_range->low, 2 - 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_FALSE(panel.rows[1].cells[0].relation) << "not to itself";
  EXPECT_EQ(text_of(cell).details.back(), "vs reference +2.0 [-0.5, +4.5]");
}

TEST(Extras, TimesAreRatiosOfMeansWithTheRangeOfSeeds) {
  TableSettings settings;
  settings.relative_to = "b";
  settings.metric = spec::Metric::seconds;
  auto panel = panel_of({row_of("a", {cell_of({2, 6})}), row_of("b", {cell_of({1, 2})})}, settings);
  extended(panel);
  const auto& cell = panel.rows[0].cells[0];
  EXPECT_NEAR(*cell.relation, 4 / 1.5, 1e-12);
  EXPECT_DOUBLE_EQ(cell.relation_range->low, 2);
  EXPECT_DOUBLE_EQ(cell.relation_range->high, 3);
  EXPECT_EQ(*panel.rows[1].cells[0].relation, 1);
  EXPECT_TRUE(any_contains(text_of(cell).details, "× 2.67 of reference"));
  EXPECT_EQ(column_title(panel, 1.0), "ε = 1, s");
}

TEST(Extras, DetectableDifferenceIsOfThePairedDifferences) {
  TableSettings settings;
  settings.mdd = true;
  auto panel = panel_of({row_of("a", {cell_of({81, 92, 73})}), row_of("b", {cell_of({80, 90, 70})}),
                         row_of("one", {cell_of({99})})},
                        settings);
  extended(panel);
  EXPECT_FALSE(panel.rows[0].cells[0].detectable) << "the leader is what others are compared with";
  EXPECT_NEAR(*panel.rows[1].cells[0].detectable, *detectable_difference(1, 3), 1e-9);
  panel.table.relative_to = "b";
  for (auto& row : panel.rows) row.cells[0].detectable.reset();
  extended(panel);
  EXPECT_TRUE(panel.rows[0].cells[0].detectable);
  EXPECT_FALSE(panel.rows[1].cells[0].detectable);
}

TEST(Extras, RerrIsTheShareOfTheWayToTheOracle) {
  TableSettings settings;
  settings.rerr_random = "r";
  settings.rerr_oracle = "o";
  auto panel =
      panel_of({row_of("r", {cell_of({60}), cell_of({50})}), row_of("o", {cell_of({80}), cell_of({50})}),
                row_of("a", {cell_of({75}), cell_of({55})})},
               settings);
  extended(panel);
  EXPECT_NEAR(*panel.rows[2].cells[0].rerr, 0.75, 1e-12);
  EXPECT_FALSE(panel.rows[2].cells[1].rerr) << "random and oracle are equal there";
  EXPECT_FALSE(panel.rows[0].cells[0].rerr);
  EXPECT_EQ(text_of(panel.rows[2].cells[0]).details.back(), "RERR 75 %");
}

TEST(Extras, ABeatenOracleIsMarkedOnlyWhereTheIntervalSaysSo) {
  TableSettings settings;
  settings.oracle_beaten = true;
  auto panel =
      panel_of({row_of("weak", {cell_of({60, 61, 62}, "oracle")}),
                row_of("o", {cell_of({80, 81, 82}, "oracle")}), row_of("a", {cell_of({85.0, 86.1, 86.9})}),
                row_of("b", {cell_of({84, 79, 85})}), row_of("c", {cell_of({70, 71, 72})})},
               settings);
  const auto notes = extended(panel);
  std::vector<bool> marks;
  for (const auto& row : panel.rows) marks.push_back(row.cells[0].beats_oracle);
  EXPECT_EQ(marks, (std::vector<bool>{false, false, true, false, false}))
      << "b is above by chance, c beats the weak one";
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(any_contains(notes, "or is chance"));
  EXPECT_EQ(panel.rows[2].cells[0].notes, std::vector<int>{1});
}

TEST(Extras, AMeanThatIsNoSeedsResultIsShownWithTheSeeds) {
  auto panel =
      panel_of({row_of("o", {cell_of({90, 90.4}, "oracle")}), row_of("two", {cell_of({88, 64, 66, 90})}),
                row_of("near", {cell_of({64, 79, 90, 90})}), row_of("one", {cell_of({40})}),
                row_of("edge", {cell_of({80, 86})}), row_of("beyond", {cell_of({80, 86.2})})},
               {});
  const auto notes = extended(panel);
  ASSERT_EQ(notes.size(), 2u) << "of \"near\" 79 is near, of \"edge\" both are";
  EXPECT_EQ(notes[0],
            "No seed is within 3 points of this mean: 64.0, 66.0, 88.0, 90.0; median 77.0; 2 of 4 reach the "
            "oracle's mean less 3 points.");
  EXPECT_EQ(panel.rows[1].cells[0].notes, std::vector<int>{1});
  EXPECT_EQ(panel.rows[5].cells[0].notes, std::vector<int>{2});

  TableSettings loss;
  loss.metric = spec::Metric::loss;
  auto other = panel_of({row_of("a", {cell_of({1, 90})})}, loss);
  EXPECT_TRUE(extended(other).empty()) << "a loss has no points";
}

TEST(Extras, AMedianThatIsNoSeedsResultIsShownWithTheSeeds) {
  auto panel = panel_of({row_of("a", {cell_of({20, 88, 90})}), row_of("b", {cell_of({64, 90})})}, {});
  panel.look.is_median = true;
  EXPECT_EQ(extended(panel),
            (std::vector<std::string>{"No seed is within 3 points of this median: 64.0, 90.0."}));
}

TEST(Extras, MeanRankIsOverColumnsThatAllRowsHave) {
  TableSettings settings;
  settings.ranks = true;
  auto absent = cell_of({});
  absent.kind = CellModel::Kind::not_planned;
  auto panel = panel_of({row_of("a", {cell_of({80}), cell_of({70}), cell_of({99})}),
                         row_of("b", {cell_of({80}), cell_of({71}), absent}),
                         row_of("c", {cell_of({}), cell_of({72}), cell_of({98})})},
                        settings);
  const auto notes = extended(panel);
  EXPECT_EQ(*panel.rows[0].cells[0].rank, 1.5);
  EXPECT_EQ(*panel.rows[2].cells[0].rank, 3) << "it failed";
  EXPECT_FALSE(panel.rows[0].cells[2].rank) << "row b has no such cell";
  EXPECT_DOUBLE_EQ(*panel.rows[0].mean_rank, (1.5 + 3) / 2);
  EXPECT_DOUBLE_EQ(*panel.rows[1].mean_rank, (1.5 + 2) / 2);
  EXPECT_DOUBLE_EQ(*panel.rows[2].mean_rank, (3 + 1) / 2.0);
  EXPECT_TRUE(any_contains(notes, "ε = 1, ε = 2 (the columns that all rows have)"));
  EXPECT_TRUE(any_contains(notes, "A row that failed comes last."));
}

// A cell whose last seed diverged.
CellModel diverged_cell(const std::vector<double>& values, const std::string& label = "end-to-end DP") {
  auto cell = cell_of(values, label);
  SeedResult seed;
  seed.seed = static_cast<std::int64_t>(values.size());
  seed.state = StudyState::failed;
  seed.failure_kind = "diverged";
  cell.seeds.push_back(seed);
  return cell;
}

TEST(Extras, ARowOfWhichASeedFailedBeatsNoOracleAndIsRankedLast) {
  TableSettings settings;
  settings.oracle_beaten = true;
  settings.ranks = true;
  settings.rerr_random = "r";
  settings.rerr_oracle = "o";
  auto panel = panel_of({row_of("o", {cell_of({80, 81, 82}, "oracle")}), row_of("r", {cell_of({70, 71, 72})}),
                         row_of("a", {diverged_cell({95.0, 95.1})}), row_of("b", {cell_of({90, 91, 92.5})})},
                        settings);
  const auto notes = extended(panel);
  EXPECT_FALSE(panel.rows[2].cells[0].beats_oracle);
  EXPECT_TRUE(panel.rows[3].cells[0].beats_oracle);
  EXPECT_EQ(*panel.rows[2].cells[0].rank, 4) << "its mean is the best one, of the seeds that are left";
  EXPECT_EQ(*panel.rows[3].cells[0].rank, 1);
  EXPECT_TRUE(any_contains(notes, "so does one of which some seeds failed: Row a (ε = 1: seed 2)."));
  EXPECT_TRUE(any_contains(notes, "RERR is of means over the seeds that are left"));
  EXPECT_TRUE(any_contains(notes, "the bad ones failed: Row a (ε = 1: seed 2)."));

  panel.rows[0].cells[0] = diverged_cell({80, 81}, "oracle");
  for (auto& row : panel.rows) row.cells[0].beats_oracle = false;
  extended(panel);
  EXPECT_FALSE(panel.rows[3].cells[0].beats_oracle) << "the oracle's own mean is of the seeds that are left";
}

TEST(Extras, ColumnsThatWaitForASeedAreNotRanked) {
  TableSettings settings;
  settings.ranks = true;
  auto panel =
      panel_of({row_of("a", {diverged_cell({95, 96})}), row_of("b", {cell_of({90, 91, 92})})}, settings);
  panel.rows[0].cells[0].seeds.back().state = StudyState::open;
  EXPECT_TRUE(any_contains(extended(panel), "No mean ranks"));
}

TEST(Extras, PapersValuesAreComparedWhereTheyAreOfOneKind) {
  TableSettings settings;
  settings.paper = true;
  settings.paper_tolerance = 2;
  auto panel = panel_of({row_of("a", {cell_of({80})}), row_of("b", {cell_of({80})}),
                         row_of("c", {cell_of({80})}), row_of("d", {cell_of({})})},
                        settings);
  const double values[] = {81.5, 82.5, 3, 82.5};
  for (std::size_t i = 0; i < 4; ++i) {
    panel.rows[i].cells[0].paper =
        PaperValue{.value = values[i], .sd = 0.25, .unit = i == 2 ? "minutes" : "%"};
  }
  extended(panel);
  EXPECT_EQ(*panel.rows[0].cells[0].paper->difference, -1.5);
  EXPECT_EQ(panel.rows[0].cells[0].paper->in_band, true);
  EXPECT_EQ(panel.rows[1].cells[0].paper->in_band, false);
  EXPECT_FALSE(panel.rows[2].cells[0].paper->difference);
  EXPECT_EQ(text_of(panel.rows[0].cells[0]).details,
            (std::vector<std::string>{"ε 1.00, n 1", "paper 81.50 ± 0.25", "difference -1.50, in band"}));
  EXPECT_EQ(text_of(panel.rows[1].cells[0]).details.back(), "difference -2.50, out of band");
  EXPECT_EQ(text_of(panel.rows[2].cells[0]).details.back(), "paper 3.00 ± 0.25 minutes");
  EXPECT_EQ(text_of(panel.rows[3].cells[0]).main, "diverged");
  EXPECT_EQ(text_of(panel.rows[3].cells[0]).details.back(), "paper 82.50 ± 0.25");
}

// Between unlike tasks a difference of accuracies means nothing; the order of the rows is compared
// instead.
TEST(Extras, OfAnotherTaskRanksAreComparedAndNotValues) {
  TableSettings settings;
  settings.paper = true;
  auto panel = panel_of({row_of("a", {cell_of({80})}), row_of("b", {cell_of({70})}),
                         row_of("c", {cell_of({60})}), row_of("d", {cell_of({99})})},
                        settings);
  panel.is_the_papers_task = false;
  const double values[] = {20, 20, 30};
  for (std::size_t i = 0; i < 3; ++i)
    panel.rows[i].cells[0].paper = PaperValue{.value = values[i], .unit = "%"};
  extended(panel);
  for (const auto& row : panel.rows) EXPECT_FALSE(row.cells[0].paper && row.cells[0].paper->difference);
  EXPECT_EQ(text_of(panel.rows[0].cells[0]).details,
            (std::vector<std::string>{"ε 1.00, n 1", "paper 20.00", "rank 1 of 3, paper's 2.5"}));
  EXPECT_EQ(text_of(panel.rows[2].cells[0]).details.back(), "rank 3 of 3, paper's 1");
  EXPECT_EQ(text_of(panel.rows[3].cells[0]).details.size(), 1u);
}

TEST(Groups, AreFoldedSeedBySeed) {
  TableSettings settings;
  settings.groups = TableSettings::Groups::max;
  const auto rows =
      std::vector{row_of("g-1", {cell_of({80, 70, 60})}, "g"), row_of("other", {cell_of({50, 50, 50})}),
                  row_of("g-2", {cell_of({70, 90, 61})}, "g"), row_of("g-3", {cell_of({})}, "g")};
  auto panel = panel_of(rows, settings);
  Footnotes footnotes;
  ASSERT_TRUE(fold_groups(panel, footnotes));
  ASSERT_EQ(panel.rows.size(), 2u);
  const auto& best = panel.rows[0];
  EXPECT_EQ(best.id, "g");
  EXPECT_EQ(best.title, "g, best of 3");
  EXPECT_NEAR(best.cells[0].mean, (80 + 90 + 61) / 3.0, 1e-12);
  EXPECT_EQ(best.cells[0].n, 3);
  EXPECT_EQ(best.label, "oracle") << "chosen by what is shown";
  EXPECT_TRUE(any_contains(footnotes.take(), "best over 3 candidates"));

  settings.groups = TableSettings::Groups::median;
  panel = panel_of(rows, settings);
  ASSERT_TRUE(fold_groups(panel, footnotes));
  EXPECT_NEAR(panel.rows[0].cells[0].mean, (75 + 80 + 60.5) / 3, 1e-12);
  EXPECT_EQ(panel.rows[0].label, "end-to-end DP");
}

// A group of a charged, an uncharged and a simulated row promises what the uncharged one does.
TEST(Groups, HaveTheWeakestLabelAllFlagsAndTheWidestGap) {
  TableSettings settings;
  settings.groups = TableSettings::Groups::median;
  auto rows = std::vector{row_of("g-1", {cell_of({80, 70, 60})}, "g"),
                          row_of("g-2", {cell_of({70, 90, 61}, "simulated")}, "g"),
                          row_of("g-3", {cell_of({71, 91, 62}, "oracle")}, "g")};
  rows[0].cells[0].epsilon = 1.32;
  rows[0].cells[0].claimed_epsilon = 1;
  rows[0].cells[0].flags = {"paper accounting: epsilon understated"};
  rows[1].cells[0].flags = {"interrupted"};
  rows[0].method = "fixed-rate";
  rows[2].method = "nondp-gs";
  auto panel = panel_of(rows, settings);
  Footnotes footnotes;
  ASSERT_TRUE(fold_groups(panel, footnotes));
  const auto& row = panel.rows.at(0);
  EXPECT_EQ(row.cells[0].label, "oracle");
  EXPECT_EQ(row.label, "oracle");
  EXPECT_EQ(row.flags, (std::vector<std::string>{"paper accounting: epsilon understated", "interrupted"}));
  EXPECT_EQ(text_of(row.cells[0]).details.at(0), "ε 1.32 (claimed 1), n 3");
  EXPECT_NE(row.method.find("nondp-gs"), std::string::npos);
  EXPECT_TRUE(any_contains(footnotes.take(), "labelled end-to-end DP, simulated, oracle"));

  rows.pop_back();
  panel = panel_of(rows, settings);
  ASSERT_TRUE(fold_groups(panel, footnotes));
  EXPECT_EQ(panel.rows.at(0).label, "simulated");

  rows.push_back(row_of("g-3", {cell_of({})}, "g"));
  rows.back().label = "oracle";
  rows.back().cells[0].label = "";
  rows.back().cells[0].kind = CellModel::Kind::open;
  panel = panel_of(rows, settings);
  ASSERT_TRUE(fold_groups(panel, footnotes));
  EXPECT_EQ(panel.rows.at(0).label, "oracle") << "it has not run yet";
}

TEST(Groups, AreNeverMarkedBest) {
  TableSettings settings;
  settings.groups = TableSettings::Groups::median;
  auto panel = panel_of(
      {row_of("g-1", {cell_of({90, 90.1, 90.2})}, "g"), row_of("g-2", {cell_of({91, 91.1, 91.3})}, "g"),
       row_of("a", {cell_of({80, 80.1, 80.3})}), row_of("b", {cell_of({70, 70.2, 70.1})})},
      settings);
  Footnotes footnotes;
  ASSERT_TRUE(fold_groups(panel, footnotes));
  mark_best(panel);
  EXPECT_FALSE(panel.rows.at(0).cells[0].best);
  EXPECT_TRUE(panel.rows.at(1).cells[0].best);
}

TEST(Groups, AMedianOverTheCandidatesThatAreLeftBeatsNothing) {
  TableSettings settings;
  settings.groups = TableSettings::Groups::median;
  settings.oracle_beaten = settings.ranks = true;
  auto panel = panel_of(
      {row_of("g-1", {cell_of({90, 90.1, 90.2})}, "g"), row_of("g-2", {diverged_cell({91, 91.1})}, "g"),
       row_of("o", {cell_of({80, 80.1, 80.3}, "oracle")})},
      settings);
  Footnotes footnotes;
  ASSERT_TRUE(fold_groups(panel, footnotes));
  EXPECT_EQ(panel.rows[0].cells[0].n, 3);
  add_extras(panel, footnotes);
  EXPECT_FALSE(panel.rows[0].cells[0].beats_oracle);
  EXPECT_EQ(*panel.rows[0].cells[0].rank, 2);
}

TEST(Groups, OfPrivateSelectionsAreRefused) {
  TableSettings settings;
  settings.groups = TableSettings::Groups::median;
  auto panel = panel_of({row_of("g-1", {cell_of({80})}, "g"), row_of("g-2", {cell_of({81})}, "g")}, settings);
  panel.rows[1].cells[0].is_private_selection = true;
  Footnotes footnotes;
  const auto folded = fold_groups(panel, footnotes);
  ASSERT_FALSE(folded);
  EXPECT_NE(folded.error().message.find("privately selected"), std::string::npos);
  panel.table.groups = TableSettings::Groups::all;
  EXPECT_TRUE(fold_groups(panel, footnotes));
}

}  // namespace table_extras_test
}  // namespace hyfreedp::results
