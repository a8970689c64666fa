#include "tests/analytic/verdicts.h"

namespace hyfreedp::analytic {
namespace mohapatra_test {

using Names = std::vector<std::string>;

TEST(MohapatraTable1, WithTheDefaultStepsOfTheSearchesNothingAgrees) {
  const auto table = computed("mohapatra-table-1", {{"steps", 2500}}).table;
  EXPECT_TRUE(cells_with(table, true).empty());
}

TEST(MohapatraTable1, AFittedCellHasNoVerdict) {
  const auto& table = computed("mohapatra-table-1").table;
  const auto& cell = cell_at(table, {"ENRON"}, "DPAdam (MA)");
  EXPECT_FALSE(cell.in_band());
  EXPECT_NEAR(*cell.ours, *cell.paper, 0.005);
  EXPECT_FALSE(cell.notes.empty());
}

TEST(MohapatraTable1, WithoutThePapersValuesWhatIsNotPrintedIsNotComputed) {
  const auto done = compute("mohapatra-table-1", {}, nullptr, "test");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(cell_at(done->table, {"ENRON"}, "DPSGD (LT)").text, "not computable");
  EXPECT_NEAR(*cell_at(done->table, {"MNIST"}, "DPAdam (MA)").ours, 1.139, 0.001);
  EXPECT_TRUE(cells_with(done->table, true).empty());
}

// Independent implementation, quoted in this project's notes: LT of ENRON and Gisette at the fitted
// n.
TEST(MohapatraTable1, TheValuesThatDoNotReproduceAreKnown) {
  const auto& table = computed("mohapatra-table-1").table;
  EXPECT_NEAR(*cell_at(table, {"ENRON"}, "DPSGD (LT)").ours, 30.06, 0.01);
  EXPECT_NEAR(*cell_at(table, {"ENRON"}, "DPMomentum (LT)").ours, 31.35, 0.01);
  EXPECT_NEAR(*cell_at(table, {"Gisette"}, "DPSGD (LT)").ours, 25.90, 0.01);
  EXPECT_NEAR(*cell_at(table, {"Gisette"}, "DPMomentum (LT)").ours, 26.98, 0.01);
}

TEST(MohapatraFigure1, TheCostRatioGrowsWithTheDataAndTheCandidatesToo) {
  const auto& figure = computed("mohapatra-figure-1").figures.at(0);
  for (const std::size_t panel : {0u, 2u}) {
    for (const auto& curve : figure.panels.at(panel).curves) {
      for (std::size_t i = 1; i < curve.points.size(); ++i)
        EXPECT_GE(curve.points[i].y, curve.points[i - 1].y) << curve.title << ' ' << curve.points[i].x;
    }
  }
  // A thousand candidates cost Liu-Talwar less than half as much again.
  for (const auto& curve : figure.panels.at(1).curves)
    EXPECT_LT(curve.points.front().y, 1.5 * curve.points.back().y) << curve.title;
}

// The paper prints 33, not 33.00; ours beside it keeps its decimals.
TEST(MohapatraFigure1, APrintedValueHasThePapersDigits) {
  const auto done = computed("mohapatra-figure-1");
  int whole = 0;
  for (const auto& row : done.table.rows) {
    for (const auto& cell : row.cells) {
      if (!cell.paper) continue;
      EXPECT_EQ(cell.paper_decimals, decimals_of(*cell.paper)) << *cell.paper;
      if (*cell.paper == 33) ++whole;
    }
  }
  EXPECT_GT(whole, 0);
}

// The theorems and the bias are formulas, which the papers do not evaluate.
TEST(AnalyticFormulas, AreNotCalledPrintedValues) {
  for (const char* name : {"mohapatra-theorems", "hyfreedp-figure-7"})
    EXPECT_STREQ(computed(name).table.source_word(), "formula") << name;
  EXPECT_STREQ(computed("mohapatra-figure-1").table.source_word(), "paper");
}

}  // namespace mohapatra_test
}  // namespace hyfreedp::analytic
