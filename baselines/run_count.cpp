#include "baselines/run_count.h"

#include <algorithm>
#include <cmath>

#include "harness/base/text.h"

namespace hyfreedp::baselines {
namespace {

// The smallest k >= first whose cumulative sum of terms exceeds u. `next(k, term)` gives the term
// of k + 1. Ends where the terms no longer change the sum, so rounding of a sum that should reach 1
// cannot keep it going.
template <class Next>
std::int64_t smallest_beyond(double uniform, std::int64_t first, double term, std::int64_t mode,
                             const Next& next) {
  double sum = term;
  std::int64_t k = first;
  while (sum <= uniform) {
    term = next(k, term);
    ++k;
    if (k > mode && sum + term == sum) break;
    sum += term;
  }
  return k;
}

}  // namespace

double geometric_parameter(double mean) { return 1 / mean; }

double logarithmic_parameter(double mean) {
  HYFREEDP_CHECK(mean > 1, "a logarithmic number of runs has a mean above 1");
  const auto mean_of = [](double log_inverse) { return std::expm1(log_inverse) / log_inverse; };
  // The mean grows with ln(1/g): bisection on it.
  double low = 0;
  double high = 1;
  while (mean_of(high) < mean) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (middle > 0 && mean_of(middle) < mean ? low : high) = middle;
  }
  return std::exp(-0.5 * (low + high));
}

std::int64_t run_count(RunCount distribution, double parameter, double uniform) {
  const double g = parameter;
  switch (distribution) {
    case RunCount::geometric:
    case RunCount::liu_talwar:
      return smallest_beyond(uniform, 1, g, 1, [g](std::int64_t, double term) { return term * (1 - g); });
    case RunCount::logarithmic:
      return smallest_beyond(uniform, 1, (1 - g) / -std::log(g), 1, [g](std::int64_t k, double term) {
        return term * (1 - g) * static_cast<double>(k) / static_cast<double>(k + 1);
      });
    case RunCount::poisson:
      // In logs: exp(-g) alone is 0 for a large mean, and the number of runs must stay random.
      return smallest_beyond(uniform, 0, std::exp(-g), static_cast<std::int64_t>(g) + 1,
                             [g](std::int64_t k, double) {
                               const double next = static_cast<double>(k + 1);
                               return std::exp(next * std::log(g) - g - std::lgamma(next + 1));
                             });
  }
  return 0;
}

std::int64_t pick(double uniform, std::int64_t candidates) {
  return std::min(static_cast<std::int64_t>(std::floor(uniform * static_cast<double>(candidates))),
                  candidates - 1);
}

accounting::Selection selection_of(RunCount distribution, double mean) {
  using Distribution = accounting::Selection::Distribution;
  accounting::Selection selection{
      .eta = distribution == RunCount::geometric ? 1.0 : 0.0, .mean = mean, .base = {}};
  if (distribution == RunCount::poisson) selection.distribution = Distribution::poisson;
  if (distribution == RunCount::liu_talwar) selection.distribution = Distribution::liu_talwar;
  return selection;
}

}  // namespace hyfreedp::baselines
