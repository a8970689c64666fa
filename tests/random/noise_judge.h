// Whether numbers look like independent standard normals: the tests that every claim about noise
// rests on. Each is a named check that can be asked alone, so that a test can show that it rejects
// what it should.
//
// "False failure" is the chance that right noise under a fresh seed fails; the seeds are fixed, so
// a test that passed once passes for ever.
#pragma once

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace hyfreedp::random {

using Sample = std::vector<double>;

// A normal variable beyond 6 standard errors: 2e-9.
inline constexpr double kStandardErrors = 6.0;
// Of every other check, at most.
inline constexpr double kFalseFailure = 1e-9;

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2.0); }
inline double two_sided_tail(double x) { return std::erfc(x * std::numbers::sqrt2 / 2.0); }

// Whether `found` of `n` is likely under `probability`: exact binomial tails of at least
// kFalseFailure / 2 on its side.
inline bool count_agrees(std::uint64_t found, std::uint64_t n, double probability) {
  const boost::math::binomial_distribution<double> counts(static_cast<double>(n), probability);
  const auto k = static_cast<double>(found);
  const double low = boost::math::cdf(counts, k);
  const double high = found == 0 ? 1.0 : boost::math::cdf(boost::math::complement(counts, k - 1));
  return low >= kFalseFailure / 2 && high >= kFalseFailure / 2;
}

inline std::uint64_t count_beyond(const Sample& z, double level) {
  return static_cast<std::uint64_t>(
      std::count_if(z.begin(), z.end(), [level](double x) { return std::abs(x) > level; }));
}

template <class Term>
bool mean_agrees(const Sample& z, double mean, double variance, Term term) {
  double sum = 0.0;
  for (const double x : z) sum += term(x);
  const auto n = static_cast<double>(z.size());
  return std::abs(sum / n - mean) <= kStandardErrors * std::sqrt(variance / n);
}

inline bool mean_fits(const Sample& z) {
  return mean_agrees(z, 0.0, 1.0, [](double x) { return x; });
}
inline bool scale_fits(const Sample& z) {
  return mean_agrees(z, 1.0, 2.0, [](double x) { return x * x; });
}
inline bool kurtosis_fits(const Sample& z) {
  return mean_agrees(z, 3.0, 96.0, [](double x) { return x * x * x * x; });
}
inline bool skewness_fits(const Sample& z) {
  return mean_agrees(z, 0.0, 15.0, [](double x) { return x * x * x; });
}

// Exceedances of 2 to 6, each an exact binomial; 5 times kFalseFailure.
inline bool tails_fit(const Sample& z) {
  for (const double level : {2.0, 3.0, 4.0, 5.0, 6.0}) {
    if (!count_agrees(count_beyond(z, level), z.size(), two_sided_tail(level))) return false;
  }
  return true;
}

// Of the first 200 000, sorted.
inline Sample sorted_part(const Sample& z) {
  Sample part(z.begin(), z.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(z.size(), 200000)));
  std::sort(part.begin(), part.end());
  return part;
}

// Kolmogorov-Smirnov distance times sqrt(n); P(> 3.3) = 2 exp(-2 * 3.3^2) = 7e-10.
inline bool kolmogorov_fits(const Sample& z) {
  const auto sample = sorted_part(z);
  const auto n = static_cast<double>(sample.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double cdf = normal_cdf(sample[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, cdf - rank / n, (rank + 1.0) / n - cdf});
  }
  return distance * std::sqrt(n) <= 3.3;
}

// Anderson and Darling's A^2 = -n - 1/n sum (2i - 1) (ln F(z_i) + ln(1 - F(z_(n+1-i)))). In the
// limit it is the sum over j of chi-squares over j (j + 1), whose tail is sqrt(3)
// P(chi-square(1) > 2a): P(> 20) = 4e-10.
inline bool anderson_darling_fits(const Sample& z) {
  const auto sample = sorted_part(z);
  const std::size_t n = sample.size();
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double logs = std::log(normal_cdf(sample[i])) + std::log(normal_cdf(-sample[n - 1 - i]));
    sum += (2.0 * static_cast<double>(i) + 1.0) * logs;
  }
  const auto count = static_cast<double>(n);
  return -count - sum / count <= 20.0;
}

// sum a[i] b[i + lag] over sqrt of the number of products: within 6 standard errors.
inline bool uncorrelated(const Sample& a, const Sample& b, std::size_t lag = 0) {
  const std::size_t n = std::min(a.size(), b.size()) - lag;
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += a[i] * b[i + lag];
    squares += (a[i] * a[i] - 1.0) * (b[i + lag] * b[i + lag] - 1.0);
  }
  const double root = std::sqrt(static_cast<double>(n));
  return std::abs(sum) <= kStandardErrors * root && std::abs(squares) <= kStandardErrors * 2.0 * root;
}

// With itself, shifted by one to four places: the two normals of a pair, a pair and the next.
inline bool neighbours_fit(const Sample& z) {
  for (std::size_t lag = 1; lag <= 4; ++lag) {
    if (!uncorrelated(z, z, lag)) return false;
  }
  return true;
}

struct Check {
  const char* name;
  bool (*fits)(const Sample&);
  bool sees_scale;  // a scale of 2/3 or 3/2 alone makes it fail
};

inline constexpr Check kChecks[] = {{"mean", mean_fits, false},
                                    {"scale", scale_fits, true},
                                    {"skewness", skewness_fits, false},
                                    {"kurtosis", kurtosis_fits, true},
                                    {"tails", tails_fit, true},
                                    {"Kolmogorov-Smirnov", kolmogorov_fits, true},
                                    {"Anderson-Darling", anderson_darling_fits, true},
                                    {"neighbours", neighbours_fit, true}};

// Empty when all checks pass, else the first that fails. False failure < 4e-8.
inline std::string judge_normals(const Sample& z) {
  for (const Check& check : kChecks) {
    if (!check.fits(z)) return check.name;
  }
  return "";
}

inline Sample scaled(Sample z, double factor) {
  for (double& x : z) x *= factor;
  return z;
}

}  // namespace hyfreedp::random
