#include "harness/accounting/one_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyfreedp::accounting {
namespace {

constexpr double kRounding = 1e-15;
constexpr double kLargestEpsilon = 1e300;

// A tail's relative error grows with the square of its quantile, which is about -2 log of its mass.
double tail_doubt(double log_mass) { return kRounding * (4 - 2 * std::min(log_mass, 0.0)); }

// gain - (e^eps - 1) other, `gain` being this - other of the set.
Bracket excess(const CellMass& gain, double log_other, double epsilon) {
  if (!(gain.mass > 0)) return {};
  const double cost = epsilon < 1 ? std::expm1(epsilon) * std::exp(log_other)
                                  : std::exp(epsilon + log_other) * -std::expm1(-epsilon);
  double doubt = gain.mass * (gain.doubt + tail_doubt(std::log(gain.mass)));
  if (cost > 0) doubt += cost * (tail_doubt(log_other) + kRounding * epsilon);
  const double value = gain.mass - cost;
  return {std::clamp(value + doubt, 0.0, 1.0), std::clamp(value - doubt, 0.0, 1.0)};
}

// Bounds what a rounded end of the set leaves out of it: a cell of that width times the loss across
// it.
double end_doubt(const LossPair& pair, double end) {
  if (!std::isfinite(end)) return 0;
  const double width = 4e-16 * (1 + std::abs(end)) / pair.sigma();
  return 0.4 * width * std::min(1.0, 2 * width / pair.sigma());
}

template <class Meets>
Bracket bisect(const Meets& meets) {
  double low = 0;
  double high = 1;
  while (!meets(high) && high < kLargestEpsilon) {
    low = high;
    high *= 2;
  }
  if (!meets(high)) return {std::numeric_limits<double>::infinity(), low};
  for (int i = 0; i < 200 && high - low > 4e-16 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return {high, low};
}

}  // namespace

Bracket one_step_delta(const LossPair& pair, double epsilon) {
  const double above = pair.inverse(epsilon);
  Bracket delta = excess(pair.gain_above(above), pair.log_q_above(above), epsilon);
  delta.upper += end_doubt(pair, above);
  if (!pair.symmetric()) {
    // the add direction's loss exceeds eps where L < -eps
    const double below = pair.inverse(-epsilon);
    const Bracket add = excess(pair.gain_above(below), pair.log_p_below(below), epsilon);
    delta.upper = std::max(delta.upper, add.upper + end_doubt(pair, below));
    delta.lower = std::max(delta.lower, add.lower);
  }
  delta.upper = std::min(delta.upper, 1.0);
  return delta;
}

Bracket one_step_epsilon(const LossPair& pair, double delta) {
  Bracket epsilon;
  if (one_step_delta(pair, 0).upper > delta) {
    epsilon.upper = bisect([&](double e) { return one_step_delta(pair, e).upper <= delta; }).upper;
  }
  if (one_step_delta(pair, 0).lower > delta) {
    epsilon.lower = bisect([&](double e) { return one_step_delta(pair, e).lower <= delta; }).lower;
  }
  return epsilon;
}

}  // namespace hyfreedp::accounting
