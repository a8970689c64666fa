#include "harness/accounting/one_step.h"

#include <algorithm>
#include <cmath>

namespace hyfreedp::accounting {
namespace {

// P(A) - e^eps Q(A), where Q(A) may be far below the smallest double once e^eps is not.
double excess(double p, double q, double epsilon) {
  if (p <= 0) return 0;
  const double other = q > 0 ? std::exp(epsilon + std::log(q)) : 0;
  return std::max(0.0, p - other);
}

}  // namespace

double one_step_delta(const LossPair& pair, double epsilon) {
  const double above = pair.inverse(epsilon);
  const double remove = excess(pair.p_above(above), pair.q_above(above), epsilon);
  if (pair.symmetric()) return remove;
  const double below = pair.inverse(-epsilon);  // the add direction's loss exceeds eps where L < -eps
  return std::max(remove, excess(pair.q_below(below), pair.p_below(below), epsilon));
}

double one_step_epsilon(const LossPair& pair, double delta) {
  if (one_step_delta(pair, 0) <= delta) return 0;
  double low = 0;
  double high = 1;
  while (one_step_delta(pair, high) > delta && high < 1e12) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 200 && high - low > 4e-16 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (one_step_delta(pair, middle) <= delta ? high : low) = middle;
  }
  return high;
}

}  // namespace hyfreedp::accounting
