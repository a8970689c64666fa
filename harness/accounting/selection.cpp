#include "harness/accounting/selection.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace hyfreedp::accounting {
namespace {

constexpr double kLiuTalwarDelta2 = 1e-20;

double log1m_exp(double x) { return std::log(-std::expm1(-x)); }  // log(1 - e^-x), x > 0

// log E[K] at log(1/gamma) = t > 0. For eta near -1 gamma is far below the smallest double: 1/gamma
// grows like E[K]^{1/(1 + eta)}.
double log_mean(double eta, double t) {
  const double log_odds = t + log1m_exp(t);
  const double scaled = std::abs(eta) * t;
  if (scaled < 1e-8) return log_odds - std::log(t);
  const double log_ratio = std::log(std::abs(eta)) - log1m_exp(scaled);
  return eta > 0 ? log_odds + log_ratio : (1 + eta) * t + log1m_exp(t) + log_ratio;
}

// (alpha - 1) times the bound for a Poisson number of runs, from x = (alpha - 1) R and
// y = (alpha - 1) mean delta.
double poisson_moment(double mean, double x, double y) {
  const double log_mean = std::log(mean);
  if (mean >= 1) return log_mean + x + y;
  if (x == 0) return 0;
  const double log_gain = log_mean + y + x + log1m_exp(x);  // log(mean e^y (e^x - 1))
  return log_gain > 0 ? log_gain + std::log1p(std::exp(-log_gain)) : std::log1p(std::exp(log_gain));
}

}  // namespace

double mean_from_gamma(double eta, double gamma) {
  if (gamma == 1) return 1;
  const double log_gamma = std::log(gamma);
  const double odds = (1 - gamma) / gamma;
  // eta / (1 - gamma^eta) tends to 1 / log(1/gamma) as eta tends to 0.
  if (std::abs(eta * log_gamma) < 1e-8) return odds / -log_gamma;
  return odds * eta / -std::expm1(eta * log_gamma);
}

double log_inverse_gamma_from_mean(double eta, double mean) {
  if (mean <= 1) return 0;
  const double target = std::log(mean);
  double low = 0;
  double high = 1;
  while (log_mean(eta, high) < target) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = (low + high) / 2;
    (log_mean(eta, middle) < target ? low : high) = middle;
  }
  // The smaller gamma costs more: the returned value errs on the side of a larger epsilon.
  return high;
}

std::vector<double> selection_curve(const SelectionItem& item, const std::vector<double>& base,
                                    const std::vector<double>& orders) {
  std::vector<double> curve(orders.size());
  double constant = 0;
  const bool is_poisson = item.distribution == Selection::Distribution::poisson;
  if (!is_poisson) {
    const double log_inverse_gamma = log_inverse_gamma_from_mean(item.eta, item.mean);
    constant = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < orders.size(); ++j) {
      const double b = orders[j];
      constant = std::min(constant, (1 + item.eta) * ((1 - 1 / b) * base[j] + log_inverse_gamma / b));
    }
  }
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double rest = orders[i] - 1;
    if (is_poisson) {
      const double run_delta = delta_from_renyi(base, orders, std::log1p(1 / rest));
      curve[i] = poisson_moment(item.mean, rest * base[i], rest * item.mean * run_delta) / rest;
    } else {
      curve[i] = base[i] + constant + std::log(item.mean) / rest;
    }
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
