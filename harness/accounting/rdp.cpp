#include "harness/accounting/rdp.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "harness/accounting/loss_moments.h"
#include "harness/accounting/selection.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestSummedOrder = 20000;
constexpr double kSmallestQuadratureNoise = 0.02;

// log sum_{k>=2} C(a,k) (1-q)^(a-k) q^k (e^{k(k-1)/(2 sigma^2)} - 1): all terms positive, so
// nothing cancels.
double log_binomial_excess(double q, double sigma, int order) {
  const double inverse = 1 / (2 * sigma * sigma);
  const double log_odds = std::log(q) - std::log1p(-q);
  std::vector<double> terms;
  terms.reserve(static_cast<std::size_t>(order));
  double log_choose = std::log(order);  // C(a, 1)
  double largest = -kInfinity;
  for (int k = 2; k <= order; ++k) {
    log_choose += std::log(static_cast<double>(order - k + 1) / k);
    const double exponent = static_cast<double>(k) * (k - 1) * inverse;
    const double log_gain = exponent > 30 ? exponent : std::log(std::expm1(exponent));
    terms.push_back(log_choose + k * log_odds + log_gain);
    largest = std::max(largest, terms.back());
  }
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum) + order * std::log1p(-q);
}

double log1p_exp(double x) { return x < 0 ? std::log1p(std::exp(x)) : x + std::log1p(std::exp(-x)); }

struct Candidate {
  double epsilon = kInfinity;
  double order = 0;
  std::size_t place = 0;
};

double curve_at(const std::vector<Mechanism>& mechanisms, Neighbouring neighbouring, double order) {
  double total = 0;
  for (const auto& mechanism : mechanisms) {
    total += static_cast<double>(mechanism.count) * renyi_divergence(mechanism, neighbouring, order);
  }
  return total;
}

// Returns the best order without selection. Epsilon then falls and rises along the orders, so a
// coarse pass and the neighbourhood of its best order are enough; every order gives a bound, so a
// missed one could only cost tightness.
Candidate best_order(const SplitContent& content, Neighbouring neighbouring, double delta,
                     const std::vector<double>& sorted, Conversion conversion) {
  Candidate best;
  const auto consider = [&](std::size_t i) {
    const double epsilon = epsilon_from_renyi(curve_at(content.mechanisms, neighbouring, sorted[i]),
                                              sorted[i], delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, sorted[i], i};
  };
  constexpr std::size_t kStride = 12;
  for (std::size_t i = 0; i < sorted.size(); i += kStride) consider(i);
  if (sorted.size() > 1) consider(sorted.size() - 1);
  const std::size_t middle = best.place;
  const std::size_t first = middle > kStride ? middle - kStride : 0;
  for (std::size_t i = first; i < std::min(sorted.size(), middle + kStride + 1); ++i) {
    if (i != middle) consider(i);
  }
  return best;
}

// Golden-section search between the neighbours of the best order in the table; any order gives a
// bound.
Candidate refined(const SplitContent& content, Neighbouring neighbouring, double delta,
                  const std::vector<double>& sorted, Conversion conversion, Candidate best) {
  if (best.place == 0 || best.place + 1 >= sorted.size() || best.epsilon == 0) return best;
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = sorted[best.place - 1];
  double high = sorted[best.place + 1];
  const auto at = [&](double order) {
    const double epsilon =
        epsilon_from_renyi(curve_at(content.mechanisms, neighbouring, order), order, delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, order, best.place};
    return epsilon;
  };
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = at(left);
  double at_right = at(right);
  while (high - low > 1e-4 * (high - 1)) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      at_left = at(left = high - ratio * (high - low));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      at_right = at(right = low + ratio * (high - low));
    }
  }
  return best;
}

Candidate best_on_curve(const std::vector<double>& curve, double delta, const std::vector<double>& sorted,
                        Conversion conversion) {
  Candidate best;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double epsilon = epsilon_from_renyi(curve[i], sorted[i], delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, sorted[i], i};
  }
  return best;
}

bool is_liu_talwar(const SelectionItem& item) {
  return item.distribution == Selection::Distribution::liu_talwar;
}

// Theorem 3.4 of theirs composes with nothing.
bool is_one_liu_talwar(const SplitContent& content) {
  return content.selections.size() == 1 && content.mechanisms.empty() && content.selections[0].count == 1 &&
         is_liu_talwar(content.selections[0]);
}

Result<Candidate> price(const SplitContent& content, Neighbouring neighbouring, double delta,
                        const std::vector<double>& sorted, Conversion conversion) {
  if (content.selections.empty()) return best_order(content, neighbouring, delta, sorted, conversion);
  if (is_one_liu_talwar(content)) {
    const auto& item = content.selections[0];
    const auto run_delta = liu_talwar_run_delta(item.mean, delta);
    if (!run_delta) return run_delta.error();
    auto run = price(item.base, neighbouring, *run_delta, sorted, conversion);
    if (!run) return run;
    run->epsilon = 3 * run->epsilon + 3 * std::sqrt(2 * *run_delta);
    return run;
  }
  const auto curve = renyi_curve(content, neighbouring, sorted);
  if (!curve) return curve.error();
  return best_on_curve(*curve, delta, sorted, conversion);
}

Result<void> check_rdp(const SplitContent& content, Neighbouring neighbouring) {
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace && mechanism.sample_rate < 1 &&
        neighbouring == Neighbouring::replace_one) {
      return error(
          "Subsampled Laplace noise is priced under add-remove neighbours only, not under replace-one.");
    }
  }
  for (const auto& selection : content.selections) {
    if (auto ok = check_rdp(selection.base, neighbouring); !ok) return ok;
  }
  return {};
}

std::string range_note(double order, const std::vector<double>& sorted) {
  if (order == sorted.back()) return fmt::format("the best order, {}, is the highest tried", order);
  if (order == sorted.front()) return fmt::format("the best order, {}, is the lowest tried", order);
  return {};
}

}  // namespace

double renyi_divergence(const Mechanism& mechanism, Neighbouring neighbouring, double alpha) {
  const double q = mechanism.sample_rate;
  const double sigma = mechanism.noise_multiplier;
  const bool replace = neighbouring == Neighbouring::replace_one;
  if (mechanism.noise == Noise::gaussian) {
    if (q == 1) return (replace ? 4 : 1) * alpha / (2 * sigma * sigma);
    if (!replace && alpha == std::floor(alpha) && alpha <= kLargestSummedOrder) {
      return log1p_exp(log_binomial_excess(q, sigma, static_cast<int>(alpha))) / (alpha - 1);
    }
    // too many nodes; subsampling only lowers the divergence
    if (sigma < kSmallestQuadratureNoise) {
      return (replace ? 4 : 1) * alpha / (2 * sigma * sigma);
    }
    const LossPair pair(mechanism, neighbouring);
    return log_moment(loss_nodes(pair, 1, alpha), alpha) / (alpha - 1);
  }
  const LossPair pair(mechanism, neighbouring);
  const auto nodes = loss_nodes(pair, 1 - alpha, alpha);
  // D_a(Q || P) (a - 1) = log E_Q[(dP/dQ)^(1-a)].
  return std::max(log_moment(nodes, alpha), log_moment(nodes, 1 - alpha)) / (alpha - 1);
}

double epsilon_from_renyi(double divergence, double alpha, double delta, Conversion conversion) {
  if (std::isnan(divergence) || divergence == kInfinity) return kInfinity;
  if (delta * delta > -std::expm1(-divergence)) return 0;
  const double epsilon =
      conversion == Conversion::mironov
          ? divergence - std::log(delta) / (alpha - 1)
          : divergence + std::log1p(-1 / alpha) - (std::log(delta) + std::log(alpha)) / (alpha - 1);
  return std::max(0.0, epsilon);
}

double delta_from_renyi(const std::vector<double>& divergences, const std::vector<double>& orders,
                        double epsilon) {
  double log_delta = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double alpha = orders[i];
    log_delta = std::min(log_delta, 0.5 * std::log(-std::expm1(-divergences[i])));
    log_delta = std::min(log_delta,
                         (alpha - 1) * (divergences[i] - epsilon + std::log1p(-1 / alpha)) - std::log(alpha));
  }
  return std::exp(log_delta);
}

Result<std::vector<double>> renyi_curve(const SplitContent& content, Neighbouring neighbouring,
                                        const std::vector<double>& orders) {
  std::vector<double> curve(orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i)
    curve[i] = curve_at(content.mechanisms, neighbouring, orders[i]);
  for (const auto& item : content.selections) {
    if (is_liu_talwar(item)) {
      return error(
          "Liu-Talwar selection gives one (epsilon, delta) statement and no Renyi curve, so it is priced "
          "alone only; "
          "use the geometric, logarithmic or Poisson distribution to compose it with other events.");
    }
    const auto base = renyi_curve(item.base, neighbouring, orders);
    if (!base) return base.error();
    const auto selected = selection_curve(item, *base, orders);
    for (std::size_t i = 0; i < orders.size(); ++i) curve[i] += static_cast<double>(item.count) * selected[i];
  }
  return curve;
}

const std::vector<double>& default_orders() {
  static const std::vector<double> orders = [] {
    std::vector<double> list;
    for (int i = 101; i < 150; ++i) list.push_back(i / 100.0);
    for (int i = 30; i < 220; ++i) list.push_back(i / 20.0);
    for (int i = 11; i <= 63; ++i) list.push_back(i);
    for (double order = 64; order < 4096; order = std::round(order * 1.05)) list.push_back(order);
    list.push_back(4096);
    return list;
  }();
  return orders;
}

Result<EpsilonAnswer> epsilon_rdp(const Events& events, double delta, const std::vector<double>& orders,
                                  Conversion conversion) {
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  if (orders.empty()) return error("No Renyi order was given.");
  for (const double order : orders) {
    if (!(order > 1 && order <= 1e6))
      return error(fmt::format("The Renyi order {} is outside (1, 1e6].", order));
  }
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  std::vector<double> sorted = orders;
  const bool may_refine = orders == default_orders();
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EpsilonAnswer answer;
  answer.delta = delta;
  answer.accountant = "rdp";
  answer.neighbouring = events.neighbouring;
  std::size_t costliest = 0;
  for (const auto& content : *contents) {
    if (auto ok = check_rdp(content, events.neighbouring); !ok) return ok.error();
    auto best = price(content, events.neighbouring, delta, sorted, conversion);
    if (!best) return best.error();
    if (may_refine && content.selections.empty()) {
      *best = refined(content, events.neighbouring, delta, sorted, conversion, *best);
    }
    if (!answer.order || best->epsilon > answer.epsilon) {
      answer.epsilon = best->epsilon;
      answer.order = best->order;
      answer.note = range_note(best->order, sorted);
      answer.accountant = is_one_liu_talwar(content) ? "rdp, liu-talwar" : "rdp";
      costliest = static_cast<std::size_t>(&content - contents->data());
    }
  }
  answer.splits = split_names(*contents, costliest);
  return answer;
}

}  // namespace hyfreedp::accounting
