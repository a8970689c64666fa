#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "harness/accounting/accountant.h"
#include "harness/accounting/discrete_loss.h"
#include "harness/accounting/fft.h"
#include "harness/accounting/loss_moments.h"
#include "harness/accounting/normal.h"
#include "harness/accounting/one_step.h"
#include "harness/accounting/pld_plan.h"
#include "harness/accounting/rdp.h"

namespace hyfreedp::accounting {
namespace pld_test {

TEST(Fft, MatchesTheDefinitionAndInverts) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  for (const std::size_t size : {4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
    std::vector<double> input(size);
    for (auto& x : input) x = normal(engine);
    RealFft fft(size);
    Spectrum spectrum;
    fft.forward(input, spectrum);
    for (std::size_t k = 0; k <= size / 2; ++k) {
      double re = 0, im = 0;
      for (std::size_t j = 0; j < size; ++j) {
        const double angle = 2 * M_PI * static_cast<double>(j * k % size) / static_cast<double>(size);
        re += input[j] * std::cos(angle);
        im -= input[j] * std::sin(angle);
      }
      EXPECT_NEAR(spectrum.re[k], re, 1e-13 * static_cast<double>(size));
      EXPECT_NEAR(spectrum.im[k], im, 1e-13 * static_cast<double>(size));
    }
    std::vector<double> back;
    fft.inverse(spectrum, back);
    for (std::size_t j = 0; j < size; ++j) EXPECT_NEAR(back[j], input[j], 1e-14 * static_cast<double>(size));
  }
}

TEST(Normal, ScaledComplementaryErrorFunction) {
  EXPECT_NEAR(erfcx(0), 1, 1e-15);
  EXPECT_NEAR(erfcx(1) / 0.42758357615580700442, 1, 1e-14);
  EXPECT_NEAR(erfcx(9.99) / erfcx(10.01), 1.00198244, 1e-7);
  EXPECT_NEAR(erfcx(50) / 0.011281536265323772, 1, 1e-14);
  EXPECT_NEAR(normal_tail(normal_tail_inverse(1e-200)) / 1e-200, 1, 1e-11);
}

TEST(LossPair, InverseUndoesTheLoss) {
  for (const auto neighbouring : {Neighbouring::add_remove, Neighbouring::replace_one}) {
    for (const double q : {1e-6, 0.02, 0.5, 0.999}) {
      for (const double sigma : {0.3, 1.0, 20.0}) {
        const LossPair pair({Noise::gaussian, q, sigma, 1}, neighbouring);
        for (double x = -3 * sigma; x < 1 + 4 * sigma; x += 0.37 * sigma) {
          const double back = pair.loss(pair.inverse(pair.loss(x)));
          EXPECT_NEAR(back, pair.loss(x), 1e-12 * std::max(1e-3, std::abs(pair.loss(x))))
              << q << " " << sigma << " " << x;
          EXPECT_NEAR(pair.excess(x) / std::expm1(pair.loss(x)), 1, 1e-11);
        }
      }
    }
  }
}

// delta(eps) of one discrete loss.
double delta_of(const DiscreteLoss& loss, double epsilon) {
  double sum = loss.infinite;
  for (std::size_t i = 0; i < loss.mass.size(); ++i) {
    const double at = loss.first + static_cast<double>(i) * loss.step;
    if (at > epsilon) sum += loss.mass[i] * -std::expm1(epsilon - at);
  }
  return sum;
}

// The lattice losses bound the true curve at every epsilon, in both directions, on coarse and fine
// lattices.
TEST(DiscreteLoss, BoundsTheTrueCurve) {
  for (const double q : {0.001, 0.02, 0.3, 1.0}) {
    for (const double sigma : {0.5, 1.5, 8.0}) {
      for (const double step : {0.3, 0.02, 0.001}) {
        const LossPair pair({Noise::gaussian, q, sigma, 1}, Neighbouring::add_remove);
        Lattice lattice(step);
        LossCells cells;
        loss_cells(pair, lattice, 1e-14, cells);
        for (const bool add : {false, true}) {
          if (add) exchange(cells);
          DiscreteLoss above, below;
          discrete_upper(cells, above);
          discrete_lower(cells, add ? 1 : 2, below);
          double most = 0;
          for (double epsilon = -0.1; epsilon < 1.5; epsilon += 0.0137) {
            const double x = pair.inverse(add ? -epsilon : epsilon);
            const double factor = std::exp(epsilon);
            const double exact =
                add ? pair.q_below(x) - factor * pair.p_below(x) : pair.p_above(x) - factor * pair.q_above(x);
            EXPECT_GE(delta_of(above, epsilon), exact - 1e-13);
            EXPECT_LE(delta_of(below, epsilon), exact + 1e-13)
                << q << " " << sigma << " " << step << " " << epsilon;
            most = std::max(most, delta_of(above, epsilon) - std::max(0.0, delta_of(below, epsilon)));
          }
          if (step == 0.001) {
            EXPECT_LT(most, 2e-3);
          }
        }
      }
    }
  }
}

// Three uses of a small discrete loss, composed by hand: what is cut off counts, and the bounds
// enclose the truth.
TEST(Composition, ChargesTheInfiniteMassAndEnclosesTheTruth) {
  DiscreteLoss loss;
  loss.first = -0.25;
  loss.step = 0.25;
  loss.mass = {0.3, 0.5, 0.19};
  loss.infinite = 0.01;
  const auto truth = [&](double epsilon) {
    double sum = 1 - std::pow(0.99, 3);
    for (int a = 0; a < 27; ++a) {
      const int i = a % 3, j = a / 3 % 3, k = a / 9;
      const double at = 3 * loss.first + loss.step * (i + j + k);
      const auto mass = [&](int n) { return loss.mass[static_cast<std::size_t>(n)]; };
      if (at > epsilon) sum += mass(i) * mass(j) * mass(k) * -std::expm1(epsilon - at);
    }
    return sum;
  };
  Workbench bench;
  for (const Bound bound : {Bound::upper, Bound::lower}) {
    Composition composition({3, -0.75, 3, 64}, loss.step, bound, bench);
    composition.add(loss, 3);
    const ComposedLoss composed = composition.finish();
    for (const double epsilon : {0.0, 0.1, 0.4, 0.7, 3.0}) {
      // Infinite mass adds up over uses (above its probability, 1 - 0.99^3); the lower bound leaves
      // it out.
      const double infinite = 1 - std::pow(0.99, 3);
      const double charged = bound == Bound::upper ? 0.03 : 0;
      const double got = composed.delta(epsilon) - charged + infinite;
      EXPECT_NEAR(got, truth(epsilon), 1e-9) << epsilon;
      if (bound == Bound::upper) {
        EXPECT_GE(got, truth(epsilon) - 1e-15);
      } else {
        EXPECT_LE(got, truth(epsilon) + 1e-15);
      }
    }
  }
}

// A window that is too short: the losses above it fold into it, and the lower bound must not count
// them.
TEST(Composition, WhatFoldsInFromAboveRaisesNoLowerBound) {
  DiscreteLoss loss;
  loss.first = 0;
  loss.step = 1;
  loss.mass = {0.9, 0, 0, 0, 0, 0.1};
  Workbench bench;
  Composition composition({1, 0, 1, 4}, loss.step, Bound::lower, bench);
  composition.add(loss, 1);
  const double truth = 0.1 * -std::expm1(-4.5);
  EXPECT_LE(composition.finish().delta(0.5), truth);
}

TEST(Pld, TheDearestSplitCounts) {
  Event cheap = poisson_gaussian(0.02, 5, 50);
  Event dear = poisson_gaussian(0.02, 1, 50);
  const double alone = epsilon_pld({{}, {dear}}, 1e-5)->epsilon;
  cheap.split = "first";
  dear.split = "second";
  EXPECT_EQ(epsilon_pld({{}, {cheap, dear}}, 1e-5)->epsilon, alone);
  EXPECT_EQ(epsilon_pld({{}, {dear, cheap}}, 1e-5)->epsilon, alone);
}

TEST(Pld, BothDirectionsAreComposedUnlessThePairIsSymmetric) {
  const SplitContent content{"train", {{Noise::gaussian, 0.02, 1, 10}}, {}};
  EXPECT_EQ(directions_of(members_of(content, Neighbouring::add_remove)).size(), 2u);
  EXPECT_EQ(directions_of(members_of(content, Neighbouring::replace_one)).size(), 1u);
}

TEST(LossMoments, LaplaceHasItsClosedForm) {
  const double scale = 1.7, order = 3.5;
  const LossPair pair({Noise::laplace, 1, scale, 1}, Neighbouring::add_remove);
  const double expected = std::log(order / (2 * order - 1) * std::exp((order - 1) / scale) +
                                   (order - 1) / (2 * order - 1) * std::exp(-order / scale));
  EXPECT_NEAR(log_moment(loss_nodes(pair, 1, order), order) / expected, 1, 1e-12);
}

TEST(Pld, LaplaceComposesToItsPureEpsilonAndBelow) {
  Event one = batch(1, {{2.0, 1, Noise::laplace, {}}}, 1);
  EXPECT_NEAR(epsilon_pld({{}, {one}}, 1e-12)->epsilon, 0.5, 1e-9);
  std::get<Batch>(one.what).count = 10;
  const auto ten = epsilon_pld({{}, {one}}, 1e-5);
  ASSERT_TRUE(ten.has_value()) << ten.error().message;
  EXPECT_LT(ten->epsilon, 5);
  EXPECT_GT(ten->epsilon_lower, 2);
  EXPECT_LT(ten->epsilon - ten->epsilon_lower, 2e-3 * ten->epsilon);
  const auto rdp = epsilon_rdp({{}, {one}}, 1e-5);
  EXPECT_LE(ten->epsilon, rdp->epsilon);
  const Event sampled = batch(0.05, {{2.0, 1, Noise::laplace, {}}}, 100);
  const auto answer = epsilon_pld({{}, {sampled}}, 1e-6);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_LE(answer->epsilon, epsilon_rdp({{}, {sampled}}, 1e-6)->epsilon);
  EXPECT_LT(answer->epsilon - answer->epsilon_lower, 2e-3 * answer->epsilon);
}

struct Edge {
  double q, sigma;
  std::int64_t steps;
  double delta;
};

TEST(Pld, AnswersAtTheEdges) {
  const Edge edges[] = {{0.01, 0.3, 1000, 1e-5},     {0.001, 0.3, 10, 1e-12}, {1e-6, 0.5, 1'000'000, 1e-8},
                        {1e-5, 1, 1'000'000, 1e-12}, {0.5, 0.2, 1000, 1e-6},  {0.02, 1.6, 250, 1e-12},
                        {0.999999, 1, 20, 1e-5},     {0.02, 1e4, 250, 1e-5},  {0.02, 0.005, 10, 1e-5},
                        {1, 1e-6, 5, 1e-5},          {0.1, 1, 2, 0.3},        {0.02, 1.6, 250, 0.999},
                        {4e-4, 0.8, 70000, 1e-10}};
  for (const auto& edge : edges) {
    const Events events{{}, {poisson_gaussian(edge.q, edge.sigma, edge.steps)}};
    const auto pld = epsilon_pld(events, edge.delta);
    ASSERT_TRUE(pld.has_value()) << pld.error().message;
    const auto rdp = epsilon_rdp(events, edge.delta);
    EXPECT_FALSE(std::isnan(pld->epsilon));
    EXPECT_GE(pld->epsilon, 0);
    EXPECT_LE(pld->epsilon_lower, pld->epsilon);
    EXPECT_LE(pld->epsilon, rdp->epsilon * (1 + 1e-3) + 1e-6)
        << edge.q << " " << edge.sigma << " " << edge.steps << " " << edge.delta;
  }
}

TEST(Pld, NothingReleasedCostsNothing) {
  EXPECT_EQ(epsilon_pld({}, 1e-5)->epsilon, 0);
  EXPECT_EQ(epsilon_rdp({}, 1e-5)->epsilon, 0);
  EXPECT_EQ(report_epsilon({}, 1e-5)->epsilon, 0);
}

TEST(Pld, RefusesSelectionAndBadDelta) {
  const Event selection{Selection{Selection::Distribution::poisson, 1, 3, {poisson_gaussian(1, 3, 1)}}, {}};
  EXPECT_NE(epsilon_pld({{}, {selection}}, 1e-5).error().message.find("RDP"), std::string::npos);
  EXPECT_TRUE(report_epsilon({{}, {selection}}, 1e-5).has_value());
  for (const double delta : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_FALSE(epsilon_pld({}, delta).has_value());
    EXPECT_FALSE(epsilon_rdp({}, delta).has_value());
    EXPECT_FALSE(epsilon_gdp({}, delta).has_value());
  }
  EXPECT_FALSE(delta_pld({}, -1).has_value());
}

TEST(Rdp, RepeatedSelectionsAddUp) {
  const Event once{Selection{Selection::Distribution::poisson, 1, 3, {poisson_gaussian(0.02, 1.6, 250)}}, {}};
  const Events one{{}, {once}};
  const Events three{{}, {Event{Repeat{{once}, 3}, {}}}};
  const std::vector<double> orders = {2, 4, 8, 16};
  const auto of = [&](const Events& events) {
    return renyi_curve(split_contents(events).value()[0], events.neighbouring, orders).value();
  };
  for (std::size_t i = 0; i < orders.size(); ++i) EXPECT_NEAR(of(three)[i], 3 * of(one)[i], 1e-12);
}

TEST(Rdp, SaysWhenTheOrderIsAtTheEndOfTheRange) {
  const auto answer = epsilon_rdp({{}, {poisson_gaussian(0.02, 1.6, 250)}}, 1e-5, {2, 3, 4});
  EXPECT_EQ(*answer->order, 4);
  EXPECT_NE(answer->note.find("highest"), std::string::npos);
  EXPECT_FALSE(epsilon_rdp({}, 1e-5, {}).has_value());
  EXPECT_FALSE(epsilon_rdp({}, 1e-5, {1.0}).has_value());
  EXPECT_TRUE(epsilon_rdp({{}, {poisson_gaussian(0.02, 1.6, 250)}}, 1e-5)->note.empty());
}

}  // namespace pld_test
}  // namespace hyfreedp::accounting
