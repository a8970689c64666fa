#include "harness/audit/tail.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "harness/accounting/normal.h"

namespace hyfreedp::audit {

double normal_two_sided(double z) { return std::min(1.0, 2 * accounting::normal_tail(std::abs(z))); }

double chi_square_two_sided(double x, double n) {
  const double below = boost::math::gamma_p(n / 2, x / 2);
  const double above = boost::math::gamma_q(n / 2, x / 2);
  return std::min(1.0, 2 * std::min(below, above));
}

double quadratic_form_two_sided(double x, double sum_squares, double largest) {
  if (!(sum_squares > 0) || !(largest > 0)) return x == 0 ? 1 : 0;
  const double norm = std::sqrt(sum_squares);
  const double root = (std::sqrt(sum_squares + 2 * largest * std::abs(x)) - norm) / (2 * largest);
  return std::min(1.0, 2 * std::exp(-root * root));
}

double autocorrelation_two_sided(double sum_of_products, double products) {
  return quadratic_form_two_sided(sum_of_products, products / 2, 1);
}

double kolmogorov_tail(double distance, std::int64_t n) {
  return std::min(1.0, 2 * std::exp(-2 * static_cast<double>(n) * distance * distance));
}

double log_hoeffding_tail(double average, double mean, std::int64_t n) {
  if (average <= mean) return 0;
  if (mean <= 0) return -std::numeric_limits<double>::infinity();
  double divergence = average * std::log(average / mean);
  if (average < 1) divergence += (1 - average) * (std::log1p(-average) - std::log1p(-mean));
  return -static_cast<double>(n) * divergence;
}

double hoeffding_lower_bound(double average, std::int64_t n, double rate) {
  if (average <= 0 || n <= 0) return 0;
  const double log_rate = std::log(rate);
  double refuted = 0;
  double kept = average;
  for (int i = 0; i < 200 && kept - refuted > 1e-12 * kept; ++i) {
    const double middle = 0.5 * (refuted + kept);
    (log_hoeffding_tail(average, middle, n) <= log_rate ? refuted : kept) = middle;
  }
  return refuted;
}

double of_several(double p, double tests) { return std::min(1.0, p * std::max(tests, 1.0)); }

}  // namespace hyfreedp::audit
