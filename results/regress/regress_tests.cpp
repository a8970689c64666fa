#include "results/regress/regress_tests.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace hyfreedp::results {
namespace {

// Degrees of freedom are at most this large: beyond it t is a normal to all digits, and the
// non-central t's series grows long.
constexpr double kMostFreedom = 1e7;

boost::math::students_t student(double freedom) {
  return boost::math::students_t(std::min(freedom, kMostFreedom));
}

// P(T <= t).
double below(double t, double freedom) {
  if (!std::isfinite(t)) return t < 0 ? 0.0 : 1.0;
  return boost::math::cdf(student(freedom), t);
}

// The test of values that do not vary: the change is exactly what is seen.
ShiftTest exact(double change, double margin) {
  ShiftTest test;
  test.change = change;
  test.alarm_low = change < -margin ? 0 : 1;
  test.alarm_high = change > margin ? 0 : 1;
  test.equivalence = std::abs(change) < margin ? 0 : 1;
  return test;
}

ShiftTest t_shift(double change, double variance, double freedom, const ShiftRequest& request) {
  if (!(variance > 0)) return exact(change, request.margin);
  const double se = std::sqrt(variance);
  ShiftTest test;
  test.change = change;
  test.standard_error = se;
  test.freedom = freedom;
  test.alarm_low = below((change + request.margin) / se, freedom);
  test.alarm_high = below((request.margin - change) / se, freedom);
  test.equivalence = std::max(below(-(change + request.margin) / se, freedom),
                              below(-(request.margin - change) / se, freedom));
  const double half = boost::math::quantile(student(freedom), 0.5 + request.level / 2) * se;
  test.seen = Interval{change - half, change + half};
  return test;
}

double variance_of(std::span<const double> values) { return std::pow(sample_sd(values).value(), 2); }

// The rounding's variance of one side's values: half of what a difference has at least.
double rounding_variance(double resolution) { return resolution * resolution / 12; }

// P(each one-sided test of the pair succeeds) with n seeds.
double power_of(const PowerRequest& request, std::int64_t n) {
  const auto seeds = static_cast<double>(n);
  const double freedom = std::min(request.paired ? seeds - 1 : 2 * (seeds - 1), kMostFreedom);
  const double se = request.sd * std::sqrt((request.paired ? 1 : 2) / seeds);
  const double critical = boost::math::quantile(student(freedom), 1 - request.level);
  const double noncentrality = request.margin / se;
  // So far out that the series of the non-central t does not end; a normal is exact there to many
  // digits.
  if (noncentrality > 30 + critical) return 1;
  const boost::math::non_central_t distribution(freedom, noncentrality);
  return boost::math::cdf(boost::math::complement(distribution, critical));
}

template <class Adjust>
std::vector<double> adjusted(std::span<const double> p, const Adjust& adjust) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> result(p.size());
  adjust(order, result);
  return result;
}

}  // namespace

double ShiftTest::alarm() const { return std::min(1.0, 2 * std::min(alarm_low, alarm_high)); }

std::optional<ShiftTest> paired_shift(std::span<const double> differences, const ShiftRequest& request) {
  if (differences.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  const double variance = std::max(variance_of(differences), 2 * rounding_variance(request.resolution));
  return t_shift(mean(differences), variance / n, n - 1, request);
}

std::optional<ShiftTest> welch_shift(std::span<const double> tonight, std::span<const double> reference,
                                     const ShiftRequest& request) {
  if (tonight.size() < 2 || reference.size() < 2) return std::nullopt;
  const double rounding = rounding_variance(request.resolution);
  const auto part = [&](std::span<const double> values) {
    return std::max(variance_of(values), rounding) / static_cast<double>(values.size());
  };
  const double a = part(tonight), b = part(reference);
  const double change = mean(tonight) - mean(reference);
  if (!(a + b > 0)) return exact(change, request.margin);
  const double freedom =
      (a + b) * (a + b) /
      (a * a / static_cast<double>(tonight.size() - 1) + b * b / static_cast<double>(reference.size() - 1));
  return t_shift(change, a + b, freedom, request);
}

std::optional<ShiftTest> chi_square(double sum, double freedom, const ShiftRequest& request) {
  if (!(freedom >= 1)) return std::nullopt;
  const boost::math::chi_squared distribution(freedom);
  const double inner = std::exp(-2 * request.margin), outer = std::exp(2 * request.margin);
  // P(X <= sum) and P(X >= sum) where the variance is `scale`.
  const auto at_most = [&](double scale) { return boost::math::cdf(distribution, sum / scale); };
  const auto at_least = [&](double scale) {
    return boost::math::cdf(boost::math::complement(distribution, sum / scale));
  };
  ShiftTest test;
  test.freedom = freedom;
  if (!std::isfinite(sum)) {
    test.change = sum;
    test.alarm_high = 0;
    return test;
  }
  test.change = std::log(sum / freedom) / 2;
  test.standard_error = std::sqrt(1 / (2 * freedom));
  test.alarm_low = at_most(inner);
  test.alarm_high = at_least(outer);
  test.equivalence = std::max(at_least(inner), at_most(outer));
  const double tail = (1 - request.level) / 2;
  test.seen = Interval{std::log(sum / boost::math::quantile(distribution, 1 - tail)) / 2,
                       std::log(sum / boost::math::quantile(distribution, tail)) / 2};
  return test;
}

double fisher_more_failures(std::int64_t tonight_failed, std::int64_t tonight, std::int64_t reference_failed,
                            std::int64_t reference) {
  if (tonight_failed == 0 || tonight + reference == 0) return 1;
  const auto least = std::max<std::int64_t>(0, tonight_failed + reference_failed - reference);
  if (tonight_failed <= least) return 1;
  // The number of failed runs that chance puts among tonight's, if as many of all runs fail.
  const boost::math::hypergeometric_distribution<> distribution(
      static_cast<unsigned>(tonight_failed + reference_failed), static_cast<unsigned>(tonight),
      static_cast<unsigned>(tonight + reference));
  return boost::math::cdf(boost::math::complement(distribution, static_cast<unsigned>(tonight_failed - 1)));
}

std::optional<std::int64_t> seeds_needed(const PowerRequest& request) {
  if (!(request.margin > 0)) return std::nullopt;
  if (!(request.sd > 0)) return 2;
  const double each = 1 - (1 - request.power) / 2;
  // A normal needs fewer than a t.
  const boost::math::normal normal;
  const double z = boost::math::quantile(normal, 1 - request.level) + boost::math::quantile(normal, each);
  const double least = std::pow(z * request.sd / request.margin, 2) * (request.paired ? 1 : 2);
  if (least > static_cast<double>(kMostSeeds)) return std::nullopt;
  auto low = std::max<std::int64_t>(1, static_cast<std::int64_t>(least) - 1), high = low + 1;
  while (power_of(request, high) < each) {
    low = high;
    high += std::max<std::int64_t>(1, high / 8);
    if (low >= kMostSeeds) return std::nullopt;
  }
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (power_of(request, middle) < each ? low : high) = middle;
  }
  return high;
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  return adjusted(p, [&](const std::vector<std::size_t>& order, std::vector<double>& result) {
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double scaled = p[order[i]] * static_cast<double>(order.size() - i);
      least = std::min(1.0, std::max(least, scaled));
      result[order[i]] = least;
    }
  });
}

std::vector<double> fdr_adjusted(std::span<const double> p) {
  return adjusted(p, [&](const std::vector<std::size_t>& order, std::vector<double>& result) {
    double most = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      most = std::min(most, p[order[i]] * static_cast<double>(order.size()) / static_cast<double>(i + 1));
      result[order[i]] = most;
    }
  });
}

}  // namespace hyfreedp::results
