#include "results/table/detectable.h"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>

namespace hyfreedp::results {
namespace {

double power_at(double noncentrality, double freedom, double critical) {
  const boost::math::non_central_t distribution(freedom, noncentrality);
  return boost::math::cdf(boost::math::complement(distribution, critical)) +
         boost::math::cdf(distribution, -critical);
}

}  // namespace

std::optional<double> detectable_difference(double sd, int n, double significance, double power) {
  if (n < 2 || !(sd > 0) || !std::isfinite(sd)) return std::nullopt;
  const double freedom = n - 1;
  const double critical = boost::math::quantile(boost::math::students_t(freedom), 1 - significance / 2);
  double high = 1;
  while (power_at(high, freedom, critical) < power) high *= 2;
  const auto shortfall = [&](double noncentrality) {
    return power_at(noncentrality, freedom, critical) - power;
  };
  boost::uintmax_t iterations = 100;
  const auto root = boost::math::tools::toms748_solve(
      shortfall, 1e-6, high, boost::math::tools::eps_tolerance<double>(40), iterations);
  return root.second * sd / std::sqrt(static_cast<double>(n));
}

}  // namespace hyfreedp::results
