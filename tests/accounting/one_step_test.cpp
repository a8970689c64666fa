#include "harness/accounting/one_step.h"

#include <gtest/gtest.h>

namespace hyfreedp::accounting {
namespace one_step_test {

struct Truth {
  double rate, noise, delta, epsilon;
};

// Epsilon by 60-digit arithmetic.
constexpr Truth kTruths[] = {
    {1e-6, 1e4, 1e-12, 1.9385810528264366581e-10}, {1e-3, 1e3, 1e-9, 2.7219130915462408279e-6},
    {0.02, 1, 1e-5, 0.43886448380035232658},       {0.5, 30, 1e-3, 0.01980346804888720773},
    {0.01, 0.02, 1e-6, 1430.3812074656974568},     {0.9, 0.5, 1e-10, 14.135799537547456396},
    {1e-6, 1e4, 1e-15, 3.9243762040072393128e-10}, {1e-4, 1e6, 1e-12, 1.9383585543673750285e-10}};

TEST(OneStep, EnclosesTheTruthTightly) {
  for (const auto& one : kTruths) {
    const LossPair pair({Noise::gaussian, one.rate, one.noise, 1}, Neighbouring::add_remove);
    const auto epsilon = one_step_epsilon(pair, one.delta);
    EXPECT_GE(epsilon.upper, one.epsilon) << one.rate << " " << one.noise;
    EXPECT_LE(epsilon.lower, one.epsilon) << one.rate << " " << one.noise;
    EXPECT_LT(epsilon.upper - epsilon.lower, 1e-9 * one.epsilon) << one.rate << " " << one.noise;
    const auto delta = one_step_delta(pair, one.epsilon);
    EXPECT_GE(delta.upper, one.delta * (1 - 1e-12 * (1 + one.epsilon)));
    EXPECT_LE(delta.lower, one.delta * (1 + 1e-12 * (1 + one.epsilon)));
    EXPECT_LE(delta.lower, delta.upper);
  }
}

TEST(OneStep, ReplaceOneIsEnclosedByBothRelationsOfAddRemove) {
  for (const auto& one : kTruths) {
    const Mechanism mechanism{Noise::gaussian, one.rate, one.noise, 1};
    const auto replace = one_step_epsilon(LossPair(mechanism, Neighbouring::replace_one), one.delta);
    EXPECT_LE(replace.lower, replace.upper);
    EXPECT_LT(replace.upper - replace.lower, 1e-9 * replace.upper) << one.rate << " " << one.noise;
    EXPECT_GE(replace.upper, one.epsilon) << one.rate << " " << one.noise;
  }
}

TEST(OneStep, NextToNoNoiseHasNoFiniteCeiling) {
  const LossPair pair({Noise::gaussian, 0.5, 1e-8, 1}, Neighbouring::add_remove);
  EXPECT_GT(one_step_epsilon(pair, 1e-5).upper, 1e15);  // about 1 / (2 noise^2)
}

}  // namespace one_step_test
}  // namespace hyfreedp::accounting
