#include "harness/analytic/panda_composition.h"

#include <cmath>
#include <fmt/format.h>

namespace hyfreedp::analytic {
namespace {

Result<double> mu_squared(const std::vector<Runs>& runs, double delta) {
  double total = 0;
  for (const auto& run : runs) {
    const auto mu = accounting::gdp_mu(run.epsilon, delta);
    if (!mu) return mu.error();
    total += run.count * *mu * *mu;
  }
  return total;
}

}  // namespace

Result<double> composed_epsilon(const std::vector<Runs>& runs, double delta) {
  const auto squared = mu_squared(runs, delta);
  if (!squared) return squared.error();
  return accounting::gdp_epsilon(std::sqrt(*squared), delta);
}

Result<double> remaining_epsilon(const std::vector<Runs>& runs, double total, double delta) {
  const auto squared = mu_squared(runs, delta);
  if (!squared) return squared.error();
  const auto mu = accounting::gdp_mu(total, delta);
  if (!mu) return mu.error();
  const double left = *mu * *mu - *squared;
  if (!(left > 0)) return error(fmt::format("The runs alone cost more than epsilon {}.", total));
  return accounting::gdp_epsilon(std::sqrt(left), delta);
}

}  // namespace hyfreedp::analytic
