#include "harness/audit/binomial.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>

namespace hyfreedp::audit {

namespace math = boost::math;

double binomial_at_most(std::int64_t k, std::int64_t n, double p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return math::ibetac(static_cast<double>(k + 1), static_cast<double>(n - k), p);
}

double binomial_at_least(std::int64_t k, std::int64_t n, double p) {
  if (k <= 0) return 1;
  if (k > n) return 0;
  return math::ibeta(static_cast<double>(k), static_cast<double>(n - k + 1), p);
}

double binomial_two_sided(std::int64_t k, std::int64_t n, double p) {
  return std::min(1.0, 2 * std::min(binomial_at_most(k, n, p), binomial_at_least(k, n, p)));
}

double binomial_upper_bound(std::int64_t k, std::int64_t n, double rate) {
  if (k >= n) return 1;
  return math::ibetac_inv(static_cast<double>(k + 1), static_cast<double>(n - k), rate);
}

double binomial_lower_bound(std::int64_t k, std::int64_t n, double rate) {
  if (k <= 0) return 0;
  return math::ibeta_inv(static_cast<double>(k), static_cast<double>(n - k + 1), rate);
}

}  // namespace hyfreedp::audit
