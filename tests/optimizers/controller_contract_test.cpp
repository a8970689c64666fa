// What the contract promises, for every learning-rate controller in the registry.
#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "optimizers/facts.h"
#include "optimizers/learning_rate.h"
#include "optimizers/quadratic_fit.h"
#include "optimizers/registry.h"
#include "tests/optimizers/registry_variants.h"

namespace hyfreedp::optimizers {
namespace {

const LearningRateController::Start kStart{.steps = 40, .dimension = 100, .classes = 10};

std::unique_ptr<LearningRateController> make(const Variant& variant) {
  auto made = make_controller(variant.name, variant.options);
  EXPECT_TRUE(made) << variant.label << ": " << (made ? "" : made.error().message);
  (*made)->begin(kStart);
  return std::move(*made);
}

// Noisy losses of the parabola 2 - x + 5 x^2, now and then one that is not finite.
void probe(LearningRateController& controller, std::int64_t step, std::mt19937_64& generator) {
  if (!controller.wants_probe(step)) return;
  std::normal_distribution<double> normal;
  const auto request = controller.request(step);
  ASSERT_GE(request.abscissas.size(), 3u);
  EXPECT_EQ(request.abscissas[0], 0);
  EXPECT_GT(request.loss_bound, 0);
  ProbeResult result{.abscissas = request.abscissas, .losses = {}, .noise_sd = 1e-3};
  for (const double x : request.abscissas)
    result.losses.push_back(2 - x + 5 * x * x + 1e-3 * normal(generator));
  if (step == 15) result.losses[1] = std::numeric_limits<double>::quiet_NaN();
  controller.observe(step, result);
}

TEST(EveryController, ResumesBitForBit) {
  for (const auto& variant : variants(controller_facts())) {
    for (const std::int64_t stop : {0, 3, 17}) {
      SCOPED_TRACE(variant.label + " stopped at " + std::to_string(stop));
      std::mt19937_64 generator(7);
      auto whole = make(variant);
      for (std::int64_t t = 0; t < stop; ++t) probe(*whole, t, generator);
      auto resumed = make(variant);
      resumed->restore_scalars(whole->state_scalars());
      auto again = generator;
      for (std::int64_t t = stop; t < kStart.steps; ++t) {
        probe(*whole, t, generator);
        probe(*resumed, t, again);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(whole->learning_rate(t)),
                  std::bit_cast<std::uint64_t>(resumed->learning_rate(t)));
        EXPECT_EQ(whole->last_decision(), resumed->last_decision());
      }
      EXPECT_EQ(whole->state_scalars(), resumed->state_scalars());
      EXPECT_EQ(whole->scalars(), resumed->scalars());
      EXPECT_EQ(whole->decisions(), resumed->decisions());
      EXPECT_EQ(whole->outcome(), resumed->outcome());
    }
  }
}

TEST(EveryController, ProbesAtTheIntervalAndCountsEveryDecision) {
  for (const auto& variant : variants(controller_facts())) {
    SCOPED_TRACE(variant.label);
    std::mt19937_64 generator(7);
    auto controller = make(variant);
    const bool probes = find_controller(variant.name).value()->probes;
    const std::int64_t interval = int_or(variant.options, "interval", 5);
    std::int64_t expected = 0;
    for (std::int64_t t = 0; t < kStart.steps; ++t) {
      EXPECT_EQ(controller->wants_probe(t), probes && t % interval == 0) << t;
      expected += controller->wants_probe(t) ? 1 : 0;
      probe(*controller, t, generator);
      EXPECT_TRUE(std::isfinite(controller->learning_rate(t)));
    }
    std::int64_t counted = 0;
    for (const auto& [name, count] : controller->decisions()) counted += count;
    EXPECT_EQ(counted, expected);
  }
}

// Losses that tell nothing, or that no clamp would let through: the rate and the next bound stay
// numbers to work with.
TEST(EveryController, TakesDegenerateLosses) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  int probed = 0;
  for (const auto& variant : variants(controller_facts())) {
    if (!find_controller(variant.name).value()->probes) continue;
    for (const double value : {0.0, -1.0, 1e-40, 1e30, nan, infinity, -infinity}) {
      SCOPED_TRACE(variant.label + " losses " + std::to_string(value));
      auto controller = make(variant);
      for (std::int64_t t = 0; t < kStart.steps; ++t) {
        if (!controller->wants_probe(t)) continue;
        const auto request = controller->request(t);
        EXPECT_TRUE(std::isfinite(request.loss_bound) && request.loss_bound > 0) << request.loss_bound;
        for (const double x : request.abscissas) EXPECT_TRUE(std::isfinite(x));
        // Flat, then one that stands out.
        std::vector<double> losses(request.abscissas.size(), value);
        if (t > kStart.steps / 2) losses.back() = 2.5;
        controller->observe(t, {request.abscissas, losses, 1e-3});
        EXPECT_TRUE(std::isfinite(controller->learning_rate(t)) && controller->learning_rate(t) > 0)
            << controller->learning_rate(t);
        ++probed;
      }
    }
  }
  EXPECT_GT(probed, 100);
}

TEST(EveryController, ReportsThatNoFitWasEverAccepted) {
  for (const auto& facts : controller_facts()) {
    if (!facts.probes) continue;
    SCOPED_TRACE(facts.name);
    auto controller = make({facts.name, {}, facts.name});
    EXPECT_EQ(controller->outcome(), "");
    const auto request = controller->request(0);
    std::vector<double> losses;
    for (const double x : request.abscissas) losses.push_back(1 - x * x);
    controller->observe(0, {request.abscissas, losses, 1e-3});
    EXPECT_EQ(controller->outcome(), "fit rejected throughout");
  }
}

TEST(Registry, HasTheFactsOfEveryControllerInTheSameOrder) {
  std::vector<std::string> names;
  for (const auto& facts : controller_facts()) {
    names.push_back(facts.name);
    EXPECT_FALSE(facts.title.empty() || facts.source.empty()) << facts.name;
  }
  EXPECT_EQ(names, registered_controllers());
}

TEST(Registry, NamesTheNearestController) {
  const auto made = make_controller("hyfreedp-pluss", {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("Did you mean 'hyfreedp-plus'?"));
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("schedule"));
}

TEST(Gen, FitsManyPointsWithTheInterceptAskedForAndRefusesAPoorFit) {
  const std::vector<double> x = {0, 1, -1, 2, -2};
  const std::vector<double> losses = {2.3, 1.2, 3.0, 1.4, 6.0};
  for (const auto& [name, intercept] :
       {std::pair{"fixed", Intercept::fixed}, std::pair{"free", Intercept::free}}) {
    const auto fit = fit_quadratic(x, losses, intercept);
    ASSERT_GT(fit.r2, 0.5);
    ASSERT_LT(fit.r2, 0.99);
    json::object options = {{"eta0", 1.0}, {"pairs", 2}, {"intercept", name}};
    const auto strict = make({"gen", options, name});
    ASSERT_EQ(strict->request(0).abscissas, x);
    strict->observe(0, {x, losses, 0});
    EXPECT_EQ(strict->last_decision(), "r2_low");
    EXPECT_EQ(strict->learning_rate(0), 1);
    options["r2_min"] = 0.5;
    const auto lax = make({"gen", options, name});
    lax->observe(0, {x, losses, 0});
    EXPECT_EQ(lax->last_decision(), "accepted");
    ASSERT_TRUE(fit.minimum() > 0.5 && fit.minimum() < 2) << "the clamp would hide the fit";
    EXPECT_DOUBLE_EQ(lax->learning_rate(0), 0.9 + 0.1 * fit.minimum());
  }
}

// The published rule takes whatever least squares gives, however far from it the losses lie.
TEST(HyFreeDp, FitsMorePairsThroughTheLossAtTheWeights) {
  const std::vector<double> x = {0, 1, -1, 2, -2};
  const std::vector<double> losses = {2.3, 1.2, 3.0, 1.4, 6.0};
  const auto fit = fit_quadratic(x, losses, Intercept::fixed);
  ASSERT_LT(fit.r2, 0.99);
  const auto controller = make({"hyfreedp", {{"eta0", 1.0}, {"pairs", 2}}, "five losses"});
  ASSERT_EQ(controller->request(0).abscissas, x);
  controller->observe(0, {x, losses, 0.1});
  EXPECT_EQ(controller->last_decision(), "accepted");
  EXPECT_DOUBLE_EQ(controller->learning_rate(0), fit.minimum());
  EXPECT_DOUBLE_EQ(controller->request(5).loss_bound, 2.3 + 1.2 + 3.0 + 1.4 + 6.0);
  EXPECT_EQ(controller->request(5).abscissas.back(), -2 * fit.minimum());

  // The mean explains these losses better than the parabola does.
  const std::vector<double> rough = {0.1, 2.0, 2.1, 2.0, 2.2};
  const auto poor = fit_quadratic(x, rough, Intercept::fixed);
  ASSERT_LT(poor.r2, 0);
  const auto second = make({"hyfreedp", {{"eta0", 1.0}, {"pairs", 2}}, "five losses"});
  second->observe(0, {x, rough, 0.1});
  EXPECT_EQ(second->last_decision(), "accepted");
}

double rate(const json::object& options, std::int64_t step) {
  return make({"schedule", options, "schedule"})->learning_rate(step);
}

TEST(Schedule, WarmsUpAndDecays) {
  const json::object cosine = {{"lr", 2.0}, {"warmup", 10}, {"decay", "cosine"}, {"final", 0.1}};
  EXPECT_DOUBLE_EQ(rate(cosine, 0), 0.2);
  EXPECT_DOUBLE_EQ(rate(cosine, 9), 2.0);
  EXPECT_DOUBLE_EQ(rate(cosine, 10), 2.0);
  EXPECT_DOUBLE_EQ(rate(cosine, 25), 2 * (0.1 + 0.9 * 0.5));
  EXPECT_DOUBLE_EQ(rate(cosine, 40), 0.2);
  const json::object linear = {{"lr", 2.0}, {"decay", "linear"}};
  EXPECT_DOUBLE_EQ(rate(linear, 0), 2.0);
  EXPECT_DOUBLE_EQ(rate(linear, 10), 1.5);
  EXPECT_DOUBLE_EQ(rate({{"lr", 2.0}, {"decay", "constant"}}, 39), 2.0);
  EXPECT_DOUBLE_EQ(rate({{"lr", 2.0}, {"warmup", 80}}, 39), 1.0);  // a warm-up longer than the run
}

}  // namespace
}  // namespace hyfreedp::optimizers
