#include "harness/accounting/selection.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace hyfreedp::accounting {
namespace {

constexpr double kLiuTalwarDelta2 = 1e-20;

}  // namespace

double mean_from_gamma(double eta, double gamma) {
  if (gamma == 1) return 1;
  const double log_gamma = std::log(gamma);
  const double odds = (1 - gamma) / gamma;
  // eta / (1 - gamma^eta) tends to 1 / log(1/gamma) as eta tends to 0.
  if (std::abs(eta * log_gamma) < 1e-8) return odds / -log_gamma;
  return odds * eta / -std::expm1(eta * log_gamma);
}

double gamma_from_mean(double eta, double mean) {
  if (mean <= 1) return 1;
  double low = -740;  // log gamma
  double high = 0;
  for (int i = 0; i < 200 && high - low > 1e-15 * -low; ++i) {
    const double middle = (low + high) / 2;
    (mean_from_gamma(eta, std::exp(middle)) > mean ? low : high) = middle;
  }
  // The smaller gamma costs more: the returned value errs on the side of a larger epsilon.
  return std::exp(low);
}

std::vector<double> selection_curve(const SelectionItem& item, const std::vector<double>& base,
                                    const std::vector<double>& orders) {
  std::vector<double> curve(orders.size());
  double constant = 0;
  const bool is_poisson = item.distribution == Selection::Distribution::poisson;
  if (!is_poisson) {
    const double log_inverse_gamma = -std::log(gamma_from_mean(item.eta, item.mean));
    constant = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < orders.size(); ++j) {
      const double b = orders[j];
      constant = std::min(constant, (1 + item.eta) * ((1 - 1 / b) * base[j] + log_inverse_gamma / b));
    }
  }
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double rest = orders[i] - 1;
    const double added =
        is_poisson ? item.mean * delta_from_renyi(base, orders, std::log1p(1 / rest)) : constant;
    // A Renyi divergence is never negative; the bound may be, for a mean below 1.
    curve[i] = std::max(0.0, base[i] + added + std::log(item.mean) / rest);
  }
  std::vector<std::size_t> descending(orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) descending[i] = i;
  std::sort(descending.begin(), descending.end(), [&](auto a, auto b) { return orders[a] > orders[b]; });
  double smallest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : descending) curve[i] = smallest = std::min(smallest, curve[i]);
  return curve;
}

Result<double> liu_talwar_run_delta(double mean, double delta) {
  if (!(delta > kLiuTalwarDelta2)) {
    return error(
        fmt::format("Liu-Talwar selection needs a delta above {}, not {}.", kLiuTalwarDelta2, delta));
  }
  const double root = (delta - kLiuTalwarDelta2) / (mean * std::log(1 / kLiuTalwarDelta2));
  return root * root / 2;
}

}  // namespace hyfreedp::accounting
