// The rule of free_slope.h, written a second time; what has a rate of its own; and that it finds
// the scale of a quadratic from a rate a thousand times too small.
#include "optimizers/free_slope.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "optimizers/learning_rate.h"

namespace hyfreedp::optimizers {
namespace free_slope_test {

using ::testing::ElementsAre;
using Layers = std::vector<Slopes::OfLayer>;

std::unique_ptr<LearningRateController> begun(const json::object& options, std::vector<TrainedLayer> layers) {
  auto made = make_controller("free-slope", options).value();
  made->begin({.steps = 40, .dimension = 100, .classes = 10, .layers = std::move(layers)});
  return made;
}

// One group, from its slopes, the lengths of its directions, and the slopes and lengths of all that
// is new.
double rate_after(const std::vector<double>& slopes, const std::vector<double>& lengths,
                  const std::vector<double>& others, const std::vector<double>& other_lengths, double noise,
                  bool pretrained) {
  const double gain = 0.35, kesten = 0.05, decay = 0.9;
  double log_rate = std::log(1e-5), q = 0, q_new = 0, changes = 0;
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    q = decay * q + (1 - decay) * slopes[t] * slopes[t];
    q_new = decay * q_new + (1 - decay) * others[t] * others[t];
    const double correction = 1 - std::pow(decay, static_cast<double>(t) + 1);
    const double s2 = std::pow(noise * lengths[t], 2), s2_new = std::pow(noise * other_lengths[t], 2);
    const double own = std::max(-1.0, std::min(1.0, slopes[t] / std::sqrt(q / correction + s2)));
    const double all = std::max(-1.0, std::min(1.0, others[t] / std::sqrt(q_new / correction + s2_new)));
    const double share = std::max(0.0, 1 - s2 / (q / correction));
    if (t > 0 && slopes[t] * slopes[t - 1] < 0) changes += 1;
    const double z = pretrained ? own : share * own + (1 - share) * all;
    log_rate += gain * z / (1 + kesten * changes);
  }
  return std::exp(log_rate);
}

TEST(FreeSlope, TheRuleAsItIsWritten) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal;
  auto rule = begun({}, {{"body", 50, true}, {"adapter", 10, false}, {"head", 10, false}});
  const double noise = 0.4;
  std::vector<double> body, fresh, body_length, fresh_length;
  for (int t = 0; t < 30; ++t) {
    const Layers layers = {{0.2 + normal(generator), 1.5}, {normal(generator), 2}, {normal(generator), 0.5}};
    rule->observe(Slopes{layers, noise});
    body.push_back(layers[0].along);
    body_length.push_back(1.5);
    fresh.push_back(layers[1].along + layers[2].along);
    fresh_length.push_back(std::sqrt(4 + 0.25));
    const auto rates = rule->layer_rates();
    ASSERT_EQ(rates.size(), 3u);
    const double of_body = rate_after(body, body_length, fresh, fresh_length, noise, true);
    const double of_new = rate_after(fresh, fresh_length, fresh, fresh_length, noise, false);
    EXPECT_NEAR(rates[0] / of_body, 1, 1e-12);
    EXPECT_NEAR(rates[1] / of_new, 1, 1e-12);
    EXPECT_EQ(rates[2], rates[1]);
    EXPECT_EQ(rule->learning_rate(t), rates[0]) << "that of the largest group";
  }
}

TEST(FreeSlope, LayersWithinTheirNoiseGoWithTheOthers) {
  auto rule = begun({{"groups", "layers"}}, {{"first", 10, false}, {"last", 10, false}});
  std::vector<double> first, last, both, lengths, both_lengths;
  for (int t = 0; t < 12; ++t) {
    const double small = t % 2 == 0 ? 0.01 : -0.01;
    rule->observe(Slopes{{{small, 1}, {3, 1}}, 0.5});
    first.push_back(small);
    last.push_back(3);
    both.push_back(3 + small);
    lengths.push_back(1);
    both_lengths.push_back(std::sqrt(2.0));
  }
  const auto rates = rule->layer_rates();
  EXPECT_NEAR(rates[0] / rate_after(first, lengths, both, both_lengths, 0.5, false), 1, 1e-12);
  EXPECT_NEAR(rates[1] / rate_after(last, lengths, both, both_lengths, 0.5, false), 1, 1e-12);
  EXPECT_GT(rates[0], 5e-5) << "by its own slope it would stay at 1e-5";

  auto trained = begun({{"groups", "layers"}}, {{"first", 10, true}, {"last", 10, false}});
  for (int t = 0; t < 12; ++t) trained->observe(Slopes{{{t % 2 == 0 ? 0.01 : -0.01, 1}, {3, 1}}, 0.5});
  EXPECT_NEAR(trained->layer_rates()[0], 1e-5, 1e-6) << "pretrained weights follow their own slope alone";
}

TEST(FreeSlope, GroupsAreWhatWasAskedFor) {
  const std::vector<TrainedLayer> layers = {{"a", 5, true}, {"b", 10, true}, {"head", 3, false}};
  const Layers slopes = {{1, 1}, {-1, 1}, {2, 1}};
  const auto rates = [&](const json::object& options) {
    auto rule = begun(options, layers);
    rule->observe(Slopes{slopes, 0});
    return rule->layer_rates();
  };
  const double up = 1e-5 * std::exp(0.35), down = 1e-5 * std::exp(-0.35);
  EXPECT_THAT(rates({}), ElementsAre(1e-5, 1e-5, up)) << "slopes of a and b add up to 0";
  EXPECT_THAT(rates({{"groups", "layers"}}), ElementsAre(up, down, up));
  EXPECT_THAT(rates({{"groups", "all"}}), ElementsAre(up, up, up));
  EXPECT_THAT(rates({{"groups", "all"}, {"eta0", 1e-3}}),
              ElementsAre(1e-3 * std::exp(0.35), 1e-3 * std::exp(0.35), 1e-3 * std::exp(0.35)));
}

TEST(FreeSlope, WhatIsNotFiniteChangesNothing) {
  auto rule = begun({}, {{"a", 5, false}});
  rule->observe(Slopes{{{1, 1}}, 0.1});
  const auto before = rule->layer_rates();
  const auto state = rule->state_scalars();
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    rule->observe(Slopes{{{bad, 1}}, 0.1});
    rule->observe(Slopes{{{1, bad}}, 0.1});
  }
  EXPECT_EQ(rule->layer_rates(), before);
  EXPECT_EQ(rule->decisions().at("nonfinite_slope"), 4);
  rule->observe(Slopes{{{0, 0}}, 0.1});
  EXPECT_TRUE(std::isfinite(rule->layer_rates().front()));
  rule->restore_scalars(state);
  EXPECT_EQ(rule->layer_rates(), before);
}

// Gradient descent with noise on sum_i c_i w_i^2 / 2, of which 1 / c is the best constant rate.
TEST(FreeSlope, FindsTheScaleOfAQuadratic) {
  for (const double curvature : {0.1, 10.0, 1000.0}) {
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    auto rule = begun({{"eta0", 1e-3 / curvature}}, {{"a", 20, false}});
    std::vector<double> w(20, 1.0), u(20, 0.0);
    const double noise = 0.02 * curvature;
    double largest = 0;
    for (int t = 0; t < 80; ++t) {
      std::vector<double> m;
      Slopes::OfLayer slope;
      for (std::size_t i = 0; i < w.size(); ++i) {
        m.push_back(curvature * w[i] + noise * normal(generator));
        slope.along += m[i] * u[i];
        slope.length += u[i] * u[i];
      }
      slope.length = std::sqrt(slope.length);
      if (t > 0) rule->observe(Slopes{{slope}, noise});
      u = m;
      const double rate = rule->layer_rates().front();
      largest = std::max(largest, rate);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * u[i];
    }
    EXPECT_GT(largest * curvature, 0.1) << curvature;
    EXPECT_LT(largest * curvature, 2) << curvature << ": twice 1 / c diverges";
    double left = 0;
    for (const double one : w) left += one * one / 20;
    EXPECT_LT(left, 1e-2) << curvature;
  }
}

TEST(FreeSlope, SaysThatItOnlyClimbed) {
  auto rule = begun({}, {{"a", 5, false}});
  EXPECT_EQ(rule->outcome(), "");
  rule->observe(Slopes{{{1, 1}}, 0.1});
  EXPECT_EQ(rule->outcome(), "the rate climbed to the end");
  rule->observe(Slopes{{{-1, 1}}, 0.1});
  EXPECT_EQ(rule->outcome(), "");
}

}  // namespace free_slope_test
}  // namespace hyfreedp::optimizers
