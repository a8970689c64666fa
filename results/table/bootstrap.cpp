#include "results/table/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace hyfreedp::results {
namespace {

// std::uniform_int_distribution is not used, since its draws differ between standard libraries. The
// bias of n / 2^32 is nothing here.
std::size_t index_below(std::mt19937_64& random, std::size_t n) {
  return static_cast<std::size_t>(((random() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

std::vector<double> resampled_means(std::span<const double> values, int resamples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> means(static_cast<std::size_t>(resamples));
  for (auto& one : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[index_below(random, values.size())];
    one = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return means;
}

double acceleration(std::span<const double> values) {
  // A leave-one-out mean differs from their average by (mean - value_i) / (n - 1), and the factor
  // cancels.
  const double centre = mean(values);
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double d = value - centre;
    squares += d * d;
    cubes += d * d * d;
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

}  // namespace

std::optional<Interval> bootstrap_interval(std::span<const double> values, double level, int resamples,
                                           std::uint64_t seed) {
  if (values.size() < 2) return std::nullopt;
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  if (*least == *largest) return std::nullopt;
  const auto means = resampled_means(values, resamples, seed);
  const double centre = mean(values);
  // Means of the same values in another order differ in the last digits and are ties all the same.
  const double slack = 1e-12 * (*largest - *least);
  const auto below = std::lower_bound(means.begin(), means.end(), centre - slack) - means.begin();
  const auto up_to = std::upper_bound(means.begin(), means.end(), centre + slack) - means.begin();
  const double share = static_cast<double>(below + up_to) / (2.0 * static_cast<double>(resamples));
  if (!(share > 0 && share < 1)) return std::nullopt;
  const boost::math::normal normal;
  const double bias = boost::math::quantile(normal, share);
  const double pull = acceleration(values);
  const auto bound = [&](double tail) {
    const double z = bias + boost::math::quantile(normal, tail);
    return quantile(means, boost::math::cdf(normal, bias + z / (1 - pull * z)));
  };
  return Interval{bound((1 - level) / 2), bound((1 + level) / 2)};
}

}  // namespace hyfreedp::results
