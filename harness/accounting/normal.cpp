#include "harness/accounting/normal.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace hyfreedp::accounting {
namespace {

constexpr double kAsymptoticFrom = 10;

// Laplace's asymptotic series; at x = 10 the twelfth term is below 1e-16.
double erfcx_asymptotic(double x) {
  const double step = -0.5 / (x * x);
  double term = 1;
  double sum = 1;
  for (int k = 1; k <= 20; ++k) {
    const double next = term * (2 * k - 1) * step;
    if (std::abs(next) >= std::abs(term)) break;
    term = next;
    sum += term;
    if (std::abs(term) < 1e-17) break;
  }
  return sum / (x * std::sqrt(std::numbers::pi));
}

}  // namespace

double erfcx(double x) {
  if (x >= kAsymptoticFrom) return erfcx_asymptotic(x);
  // x * x is split into its rounded value and the rest, which exp would otherwise amplify.
  const double square = x * x;
  const double rest = std::fma(x, x, -square);
  return std::exp(square) * (1 + rest) * std::erfc(x);
}

double normal_tail(double x) { return 0.5 * std::erfc(x * (std::numbers::sqrt2 / 2)); }

double log_normal_tail(double x) {
  if (x < 5) return std::log(normal_tail(x));
  const double scaled = x * (std::numbers::sqrt2 / 2);
  return std::log(0.5 * erfcx(scaled)) - scaled * scaled;
}

double normal_tail_inverse(double p) { return std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }

double normal_cell(double middle, double width, double reach) {
  const double square = middle * middle;
  const double w = width * width;
  if (reach < 0.02) return 1 + w * ((square - 1) / 24 + w * (square * (square - 6) + 3) / 1920);
  double before = 1;
  double hermite = middle;
  double power = 1;
  double sum = 1;
  for (int n = 1; n < 10; n += 2) {
    const double even = middle * hermite - n * before;
    hermite = middle * even - (n + 1) * hermite;
    before = even;
    power *= 0.25 * w / ((n + 1) * (n + 2));
    sum += power * even;
  }
  return sum;
}

}  // namespace hyfreedp::accounting
