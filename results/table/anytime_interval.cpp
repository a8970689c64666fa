#include "results/table/anytime_interval.h"

#include <cmath>

#include "harness/base/result.h"

namespace hyfreedp::results {
namespace {

constexpr double kEffectVariance = 3;  // g

}  // namespace

std::optional<Interval> anytime_interval(std::span<const double> values, double level) {
  HYFREEDP_CHECK(level > 0 && level < 1, "a confidence level is between 0 and 1");
  const auto sd = sample_sd(values);
  if (!sd || !(*sd > 0)) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double k = 1 + n * kEffectVariance;
  // E_n(m) < 1 / (1 - level) is (1 + u) / (1 + u / k) < ratio; the left side is below k.
  const double ratio = std::pow(std::sqrt(k) / (1 - level), 2 / n);
  if (!(ratio < k)) return std::nullopt;
  const double u = (ratio - 1) / (1 - ratio / k);
  const double half = *sd * std::sqrt(u * (n - 1) / n);
  const double centre = mean(values);
  return Interval{centre - half, centre + half};
}

}  // namespace hyfreedp::results
