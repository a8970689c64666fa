// What the published rule says of its fits beside the noise in them.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "optimizers/learning_rate.h"
#include "optimizers/quadratic_fit.h"

namespace hyfreedp::optimizers {
namespace {

std::unique_ptr<LearningRateController> made(const json::object& options = {}) {
  auto controller = make_controller("hyfreedp", options).value();
  controller->begin({.steps = 500, .dimension = 2500, .classes = 10});
  return controller;
}

// Losses 2 - slope x + curvature x^2 / 2.
void probe(LearningRateController& controller, double slope, double curvature, double sd) {
  const auto request = controller.request(0);
  ProbeResult result{.abscissas = request.abscissas, .losses = {}, .noise_sd = sd};
  for (const double x : request.abscissas) result.losses.push_back(2 - slope * x + curvature * x * x / 2);
  controller.observe(0, result);
}

TEST(FitNoise, IsTheDeviationOfFitsOfNoise) {
  const double h = 0.3, sd = 0.01;
  const auto three = noise_of_fit({0, h, -h}, sd, false);
  EXPECT_NEAR(three.curvature, std::sqrt(6.0) * sd / (h * h), 1e-12);
  EXPECT_NEAR(three.slope, sd / (std::sqrt(2.0) * h), 1e-12);
  const auto differences = noise_of_fit({0, h, -h}, sd, true);
  EXPECT_NEAR(differences.curvature, std::sqrt(2.0) * sd / (h * h), 1e-12);
  EXPECT_NEAR(differences.slope, three.slope, 1e-12);

  // Five points, by simulation: the relative error of a standard deviation of 20,000 draws is
  // 0.005, and 0.03 is six times that (false failure below 1e-8).
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto abscissas = symmetric_abscissas(h, 2);
  const auto five = noise_of_fit(abscissas, sd, false);
  double curvature = 0, slope = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> losses;
    for (std::size_t k = 0; k < abscissas.size(); ++k) losses.push_back(1 + sd * normal(random));
    const auto fit = fit_quadratic(abscissas, losses, Intercept::fixed);
    curvature += fit.curvature * fit.curvature / kDraws;
    slope += fit.slope * fit.slope / kDraws;
  }
  EXPECT_NEAR(std::sqrt(curvature) / five.curvature, 1, 0.03);
  EXPECT_NEAR(std::sqrt(slope) / five.slope, 1, 0.03);
}

TEST(HyFreeDp, SaysWhatItsFitIsBesideItsNoise) {
  const auto rule = made({{"eta0", 0.1}});
  probe(*rule, 0.5, 4, 1e-3);
  const auto scalars = rule->scalars();
  EXPECT_NEAR(scalars.at("curvature_to_noise"), 4 / (std::sqrt(6.0) * 1e-3 / 0.01), 1e-9);
  EXPECT_NEAR(scalars.at("slope_to_noise"), 0.5 / (1e-3 / (std::sqrt(2.0) * 0.1)), 1e-9);
  EXPECT_EQ(rule->outcome(), "");

  const auto exact = made({{"eta0", 0.1}});
  probe(*exact, 0.5, 4, 0);
  EXPECT_FALSE(exact->scalars().contains("curvature_to_noise"));
  EXPECT_EQ(exact->outcome(), "");

  const auto paired = made({{"eta0", 0.1}, {"release", "paired"}});
  probe(*paired, 0.5, 4, 1e-3);
  EXPECT_NEAR(paired->scalars().at("curvature_to_noise"), 4 / (std::sqrt(2.0) * 1e-3 / 0.01), 1e-9);
}

TEST(HyFreeDp, ReportsACurvatureWithinItsNoiseInMostProbes) {
  const auto rule = made({{"eta0", 0.1}, {"acceptance", "clamp"}});
  const double sd = 4 * 0.01 / std::sqrt(6.0);  // curvature 4 is one deviation at a radius of 0.1
  probe(*rule, 0.4, 4, sd);
  EXPECT_EQ(rule->last_decision(), "accepted");
  EXPECT_EQ(rule->outcome(), "curvature within its noise");
  probe(*rule, 0.4, 4, sd / 100);
  EXPECT_EQ(rule->outcome(), "") << "half of the probes are not most";
  probe(*rule, 0.4, 4, sd);
  EXPECT_EQ(rule->outcome(), "curvature within its noise");
  auto again = made({{"eta0", 0.1}, {"acceptance", "clamp"}});
  again->restore_scalars(rule->state_scalars());
  EXPECT_EQ(again->outcome(), "curvature within its noise");
  EXPECT_EQ(again->scalars(), rule->scalars());
}

}  // namespace
}  // namespace hyfreedp::optimizers
