#include <cmath>

#include "harness/analytic/panda_composition.h"
#include "tests/analytic/verdicts.h"

namespace hyfreedp::analytic {
namespace panda_test {

double ours(const std::string& item, const std::vector<std::string>& row, const std::string& column) {
  return cell_at(computed(item).table, row, column).ours.value();
}

// By an own implementation in another language.
TEST(PandaNoise, AgreesWithAnIndependentImplementation) {
  EXPECT_NEAR(ours("panda-noise", {"full", "100"}, "sigma"), 2437.85, 0.3);
  EXPECT_NEAR(ours("panda-noise", {"sampled", "500"}, "sigma"), 1090.3, 0.3);
  EXPECT_NEAR(ours("panda-noise", {"full", "100"}, "epsilon at the printed sigma"), 0.009455, 2e-6);
  EXPECT_NEAR(ours("panda-noise", {"sampled", "500"}, "epsilon at the printed sigma"), 0.009459, 2e-6);
}

TEST(PandaTable11, TheLastSplitExceedsOne) {
  const std::vector<std::string> last = {"0.2", "0.3", "0.7"};
  EXPECT_NEAR(ours("panda-table-11", last, "total epsilon"), 1.0050, 5e-5);
  EXPECT_NEAR(ours("panda-table-11", last, "eps_f"), 0.6933, 5e-5);
  EXPECT_NEAR(ours("panda-table-11", {"0.01", "0.05", "0.99"}, "total epsilon"), 0.9973, 5e-5);
}

TEST(PandaImagenet, ComposesToOneWithTheFeatureMeans) {
  EXPECT_NEAR(ours("panda-imagenet-composition", {"feature means"}, "of all so far"), 0.9986, 5e-5);
}

// Full batches: the same runs priced as Gaussian mechanisms by the accountant, not by adding mu^2
// here.
TEST(PandaComposition, IsThatOfTheAccountant) {
  const double delta = 1e-5;
  accounting::Events events;
  for (const auto& [epsilon, count] : {std::pair(0.1, 3), std::pair(0.2, 3), std::pair(0.88, 1)}) {
    const double mu = accounting::gdp_mu(epsilon, delta).value();
    events.events.push_back(accounting::poisson_gaussian(1, 1 / mu, count));
  }
  const double composed = composed_epsilon({{0.1, 3}, {0.2, 3}, {0.88, 1}}, delta).value();
  EXPECT_NEAR(accounting::epsilon_pld(events, delta)->epsilon, composed, 2e-4 * composed);
}

TEST(PandaComposition, WhatRemainsFillsTheTotal) {
  const double left = remaining_epsilon({{0.1, 3}, {0.2, 3}}, 1, 1e-5).value();
  EXPECT_NEAR(composed_epsilon({{0.1, 3}, {0.2, 3}, {left, 1}}, 1e-5).value(), 1, 1e-9);
  EXPECT_FALSE(remaining_epsilon({{0.9, 3}}, 1, 1e-5));
}

TEST(PandaTable3, TheReductionOfCifar100) {
  EXPECT_NEAR(ours("panda-table-3", {"CIFAR100"}, "RERR"), 89.96, 0.005);
}

// The draft prints two of the tables under other numbers, the first with a row for the free step.
TEST(PandaDraft, ItsTablesAreComputedFromItsOwnValues) {
  const auto draft = values_of("panda-draft");
  const auto gaps = compute("panda-table-17", {{"table", "3"}}, draft, "test");
  ASSERT_TRUE(gaps) << gaps.error().message;
  EXPECT_EQ(cells_with(gaps->table, true).size(), 10u);
  EXPECT_FALSE(compute("panda-table-17", {}, draft, "test"));
  const auto ablations = compute("panda-table-1", {}, draft, "test");
  ASSERT_TRUE(ablations) << ablations.error().message;
  EXPECT_EQ(ablations->table.rows.size(), 7u);
  EXPECT_EQ(cells_with(ablations->table, false).size(), 1u);
}

// The epsilon at which the line gives the printed r: whole budgets, not those that are printed.
TEST(PandaSteps, ThePrintedStepsLieOnTheLineAtRoundBudgets) {
  EXPECT_NEAR(ours("panda-table-6", {"QQP", "1.2"}, "epsilon of the printed r"), 1, 1e-9);
  EXPECT_NEAR(ours("panda-table-6", {"QNLI", "1.3"}, "epsilon of the printed r"), 3, 1e-9);
  EXPECT_NEAR(ours("panda-table-8", {"Enron", "0.7"}, "epsilon of the printed r"), 0.5, 1e-9);
}

TEST(GendpFit, OnAParabolaTheRateIsExactAndAThirdOrderTermMovesItByTheSquareOfTheProbe) {
  for (const auto& row : computed("gendp-fit", {{"third", 0.0}}).table.rows)
    EXPECT_NEAR(*row.cells[2].ours, 0.5, 1e-9);
  const auto& rows = computed("gendp-fit").table.rows;
  for (const auto& row : rows) {
    const double h = std::stod(row.labels[0]);
    EXPECT_NEAR(*row.cells[0].ours, 1 - 0.2 * h * h, 1e-3 * h * h + 1e-12);
    EXPECT_NEAR(*row.cells[1].ours, 2, 1e-9);
  }
}

}  // namespace panda_test
}  // namespace hyfreedp::analytic
