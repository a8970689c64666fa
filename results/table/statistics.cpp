#include "results/table/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace hyfreedp::results {
namespace {

std::optional<Interval> t_interval(double centre, double standard_error, double freedom, double level) {
  if (!(standard_error > 0) || !(freedom > 0)) return std::nullopt;
  const boost::math::students_t distribution(freedom);
  const double half = boost::math::quantile(distribution, 0.5 + level / 2) * standard_error;
  return Interval{centre - half, centre + half};
}

bool same_seeds(const BySeed& a, const BySeed& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return left.first == right.first; });
}

std::vector<double> values_of(const BySeed& by_seed) {
  std::vector<double> values;
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return values;
}

std::optional<Interval> paired_interval(const BySeed& a, const BySeed& b, double level) {
  std::vector<double> differences;
  for (const auto& [seed, value] : a) differences.push_back(value - b.at(seed));
  const double n = static_cast<double>(differences.size());
  return t_interval(mean(differences), sample_sd(differences).value() / std::sqrt(n), n - 1, level);
}

std::optional<Interval> welch_interval(const BySeed& a, const BySeed& b, double level) {
  const auto left = values_of(a);
  const auto right = values_of(b);
  const double left_variance = std::pow(sample_sd(left).value(), 2) / static_cast<double>(left.size());
  const double right_variance = std::pow(sample_sd(right).value(), 2) / static_cast<double>(right.size());
  const double variance = left_variance + right_variance;
  const double freedom = variance * variance /
                         (left_variance * left_variance / static_cast<double>(left.size() - 1) +
                          right_variance * right_variance / static_cast<double>(right.size() - 1));
  return t_interval(mean(left) - mean(right), std::sqrt(variance), freedom, level);
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> sample_sd(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double quantile(std::span<const double> values, double quantile) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

BoxPlot box_plot(std::vector<double> values, double reach) {
  std::ranges::sort(values);
  const double low = quantile(values, 0.25), high = quantile(values, 0.75), length = reach * (high - low);
  // A quartile between two values may lie beyond the last one within reach.
  const double least =
      std::min(low, *std::ranges::find_if(values, [&](double v) { return v >= low - length; }));
  const auto last =
      std::find_if(values.rbegin(), values.rend(), [&](double v) { return v <= high + length; });
  return {least, low, quantile(values, 0.5), high, std::max(high, *last)};
}

std::optional<Interval> mean_interval(std::span<const double> values, double level) {
  const auto sd = sample_sd(values);
  if (!sd) return std::nullopt;
  const double n = static_cast<double>(values.size());
  return t_interval(mean(values), *sd / std::sqrt(n), n - 1, level);
}

std::optional<Interval> difference_interval(const BySeed& a, const BySeed& b, double level) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  return same_seeds(a, b) ? paired_interval(a, b, level) : welch_interval(a, b, level);
}

}  // namespace hyfreedp::results
