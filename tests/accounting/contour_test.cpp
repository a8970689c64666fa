// The contour inversion against the PLD bracket (two independent roads to the same number) and the
// files' `exact` column.
#include "harness/accounting/contour.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

#include "tests/accounting/cases.h"

namespace hyfreedp::accounting::testing {
namespace contour_test {

// `exact` and the inversion are each good to about 1e-8 (the file's own check is looser where it
// has no lattice).
constexpr double kAgreement = 1e-7;

int compare_file(const std::string& stem, Neighbouring neighbouring, int& applied) {
  int cases = 0;
  for (const auto& one : cases_of(stem)) {
    ++cases;
    const bool asks_delta = one.contains("epsilon");
    const Events events = psg(one, neighbouring);
    const auto value =
        asks_delta ? contour_delta(events, num(one, "epsilon")) : contour_epsilon(events, num(one, "delta"));
    if (!value) continue;
    ++applied;
    const auto* bracket = one.if_contains("bracket");
    const bool loose =
        bracket != nullptr && bracket->is_string() && bracket->as_string().starts_with("exact");
    EXPECT_NEAR(*value / num(one, "exact"), 1, loose ? 1e-6 : kAgreement) << text(one, "id");
  }
  return cases;
}

TEST(ReferenceAccounting, EqualsTheExactColumn) {
  int applied = 0;
  int cases = compare_file("psg_epsilon", Neighbouring::add_remove, applied);
  cases += compare_file("psg_delta", Neighbouring::add_remove, applied);
  cases += compare_file("replace_one", Neighbouring::replace_one, applied);
  if (cases == 0) GTEST_SKIP();
  // A use or two is not its business; nearly everything else is.
  EXPECT_GE(applied, cases * 3 / 4);
  std::cout << "contour: " << applied << " of " << cases << " cases\n";
}

TEST(ReferenceAccounting, EqualsTheExactColumnOfCompositions) {
  int cases = 0;
  int applied = 0;
  for (const auto& one : cases_of("composition")) {
    const auto events = events_from_json(one.at("events"), text(one, "id"));
    ASSERT_TRUE(events.has_value()) << events.error().message;
    ++cases;
    const auto value = contour_epsilon(*events, num(one, "delta"));
    if (!value) continue;
    ++applied;
    EXPECT_NEAR(*value / num(one, "exact"), 1, kAgreement) << text(one, "id");
  }
  if (cases == 0) GTEST_SKIP();
  EXPECT_GE(applied, cases * 3 / 4);
}

TEST(Contour, LiesInThePldBracketOnRandomCompositions) {
  std::mt19937_64 engine(11);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const auto log_uniform = [&](double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  };
  int applied = 0;
  const int cases = std::getenv("HYFREEDP_SLOW") == nullptr ? 325 : 2600;
  for (int i = 0; i < cases; ++i) {
    Events events;
    if (i % 5 == 4) events.neighbouring = Neighbouring::replace_one;
    const int mechanisms = i % 7 == 6 ? 3 : 1;
    for (int m = 0; m < mechanisms; ++m) {
      const double q = log_uniform(2e-3, 1);
      const double sigma = log_uniform(0.5, 40);
      events.events.push_back(poisson_gaussian(q, sigma, static_cast<std::int64_t>(log_uniform(20, 4000))));
    }
    const double delta = log_uniform(1e-11, 1e-2);
    const auto value = contour_epsilon(events, delta, 5e5);
    if (!value) continue;
    const auto pld = epsilon_pld(events, delta);
    ASSERT_TRUE(pld.has_value()) << pld.error().message;
    if (*value > 300) continue;  // e^eps beyond what anyone asks
    ++applied;
    const double slack = kAgreement * std::max(*value, 1e-4);
    EXPECT_GE(*value, pld->epsilon_lower - slack)
        << json::serialize(events_to_json(events)) << " delta " << delta;
    EXPECT_LE(*value, pld->epsilon + slack) << json::serialize(events_to_json(events)) << " delta " << delta;
    if (i % 4 == 0 && *value > 1e-3) {
      const auto back = contour_delta(events, *value, 5e5);
      if (back) {
        EXPECT_NEAR(*back / delta, 1, 3e-5);
      }
    }
  }
  EXPECT_GE(applied, cases * 3 / 4);
  std::cout << "contour inside the PLD bracket: " << applied << " random compositions\n";
}

TEST(Contour, FullBatchIsTheGaussian) {
  const Events events{{}, {poisson_gaussian(1, 30, 100)}};
  EXPECT_NEAR(*contour_epsilon(events, 1e-5) / epsilon_gdp(events, 1e-5)->epsilon, 1, 1e-8);
  EXPECT_NEAR(*contour_delta(events, 1.0) / delta_pld(events, 1.0)->delta, 1, 1e-8);
}

TEST(Contour, SaysNothingWhereItDoesNotApply) {
  const Events laplace{{}, {batch(0.1, {{2.0, 1, Noise::laplace, {}}}, 100)}};
  EXPECT_FALSE(contour_epsilon(laplace, 1e-5).has_value());
  const Events selection{
      {}, {Event{Selection{Selection::Distribution::poisson, 1, 3, {poisson_gaussian(0.1, 3, 10)}}, {}}}};
  EXPECT_FALSE(contour_epsilon(selection, 1e-5).has_value());
  EXPECT_FALSE(contour_epsilon({{}, {poisson_gaussian(0.01, 0.3, 1)}}, 1e-5, 1e5).has_value());
  EXPECT_FALSE(contour_epsilon({{}, {poisson_gaussian(1.5, 1, 100)}}, 1e-5).has_value());
  EXPECT_FALSE(contour_epsilon({{}, {poisson_gaussian(0.1, 1, 100)}}, 0).has_value());
  EXPECT_EQ(contour_epsilon({}, 1e-5).value(), 0);
}

}  // namespace contour_test
}  // namespace hyfreedp::accounting::testing
