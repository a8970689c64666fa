#include "harness/accounting/loss_moments.h"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/accounting/normal.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kReach = 9.5;  // standard deviations beyond the extreme means: tail below 1e-20

double log_normal_density(double z) { return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi); }

std::vector<LossNode> gaussian_nodes(const LossPair& pair, double from, double to) {
  const double sigma = pair.sigma();
  const double q = pair.rate();
  // At q = 1 the loss is linear and only the Gaussian's own decay limits the step.
  const double step = sigma * (q == 1 ? 0.4 : std::min(0.4, 0.5 * sigma));
  const auto count = static_cast<std::size_t>(std::ceil((to - from) / step)) + 1;
  std::vector<LossNode> nodes(count);
  const double log_step = std::log(step / sigma);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = from + static_cast<double>(i) * step;
    auto& node = nodes[i];
    node.loss = pair.loss(x);
    node.excess = pair.excess(x);
    if (pair.symmetric()) {
      const double zero = std::log1p(-q) + log_normal_density(x / sigma);
      const double minus = std::log(q) + log_normal_density((x + 1) / sigma);
      const double larger = std::max(zero, minus);
      node.log_weight = log_step + larger + std::log1p(std::exp(std::min(zero, minus) - larger));
    } else {
      node.log_weight = log_step + log_normal_density(x / sigma);
    }
  }
  return nodes;
}

// Two atoms (x <= 0 and x >= 1) and, between them, Gauss-Legendre panels short against the scale.
std::vector<LossNode> laplace_nodes(const LossPair& pair, double lowest, double highest) {
  const double scale = pair.sigma();
  std::vector<LossNode> nodes;
  nodes.push_back({std::log(0.5), pair.loss(0), pair.excess(0)});
  nodes.push_back({std::log(0.5) - 1 / scale, pair.loss(1), pair.excess(1)});
  using Rule = boost::math::quadrature::gauss<double, 20>;
  const double steepest = (2 * std::max({std::abs(lowest), std::abs(highest), 1.0}) + 1) / scale;
  const auto panels = static_cast<int>(std::clamp(std::ceil(steepest / 4), 1.0, 20000.0));
  const double half = 0.5 / panels;
  const auto& points = Rule::abscissa();
  const auto& weights = Rule::weights();
  for (int panel = 0; panel < panels; ++panel) {
    const double centre = (2 * panel + 1) * half;
    for (std::size_t k = 0; k < points.size(); ++k) {
      for (const double sign : {-1.0, 1.0}) {
        const double x = centre + sign * points[k] * half;
        const double log_density = -x / scale - std::log(2 * scale);
        nodes.push_back({std::log(weights[k] * half) + log_density, pair.loss(x), pair.excess(x)});
      }
    }
  }
  return nodes;
}

// log of e^{aL} - 1 - a (e^L - 1), which is >= 0 for a > 1 and a < 0; t = e^L - 1.
double log_convex_part(double order, const LossNode& node) {
  const double t = node.excess;
  if (t == 0) return -std::numeric_limits<double>::infinity();
  const double scaled = order * node.loss;
  if (scaled > 40) {  // e^{aL} dominates; the rest is a relative correction
    return scaled + std::log1p(-order * std::exp(node.loss - scaled) - (1 - order) * std::exp(-scaled));
  }
  if (order < 0 && node.loss > 40) return std::log(-order) + node.loss;
  double value = 0;
  if (std::abs(t) * std::max(1.0, std::abs(order)) < 0.05) {
    double term = 0.5 * order * (order - 1) * t * t;
    value = term;
    for (int k = 3; k < 40; ++k) {
      term *= (order - (k - 1)) / k * t;
      value += term;
      if (std::abs(term) < 1e-18 * std::abs(value)) break;
    }
  } else {
    // (1 + t) (e^{(a-1) L} - 1) - (a - 1) t: no cancellation as a approaches 1.
    value = (1 + t) * std::expm1((order - 1) * node.loss) - (order - 1) * t;
  }
  return value > 0 ? std::log(value) : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<LossNode> loss_nodes(const LossPair& pair, double lowest, double highest) {
  if (pair.noise() == Noise::laplace) return laplace_nodes(pair, lowest, highest);
  // Tilting by e^{aL} moves the mean to at most a (add/remove) or between 1 - 2a and 2a - 1
  // (replace one).
  const double margin = kReach * pair.sigma();
  if (pair.symmetric()) {
    return gaussian_nodes(pair, std::min(-3.0, 2 * lowest - 1) - margin,
                          std::max(3.0, 2 * highest - 1) + margin);
  }
  return gaussian_nodes(pair, std::min(0.0, lowest) - margin, std::max(2.0, highest) + margin);
}

std::vector<LossNode> central_nodes(const LossPair& pair, double below, double above) {
  if (pair.noise() == Noise::laplace) return laplace_nodes(pair, -8, 8);
  const double from = pair.q_lower_point(below);
  const double to = pair.p_upper_point(above);
  auto nodes = gaussian_nodes(pair, from, to + 2 * pair.sigma());
  const double bottom = pair.loss(from);
  const double top = pair.loss(to);
  for (auto& node : nodes) node.loss = std::clamp(node.loss, bottom, top);
  // The mass cut off below, where a large negative order would find it: slabs of doubling depth,
  // each with the most it can hold at the lowest loss it can have.
  const double centre = pair.symmetric() ? -1 : 0;
  double depth = (centre - from) / pair.sigma();
  for (int i = 0; i < 24; ++i, depth *= 2) {
    double lowest = pair.loss(centre - 2 * depth * pair.sigma());
    if (i == 23 && std::isfinite(pair.infimum())) lowest = pair.infimum();
    nodes.push_back({log_normal_tail(depth), lowest, std::expm1(lowest)});
  }
  return nodes;
}

double log_moment(const std::vector<LossNode>& nodes, double order) {
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<double> terms(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    terms[i] = nodes[i].log_weight + log_convex_part(order, nodes[i]);
    largest = std::max(largest, terms[i]);
  }
  if (largest == -std::numeric_limits<double>::infinity()) return 0;
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  const double log_excess = largest + std::log(sum);  // log(M - 1)
  return log_excess < 0 ? std::log1p(std::exp(log_excess)) : log_excess + std::log1p(std::exp(-log_excess));
}

TiltedLoss tilted_loss(const std::vector<LossNode>& nodes, double order) {
  double largest = -std::numeric_limits<double>::infinity();
  double reference = 0;
  for (const auto& node : nodes) {
    const double exponent = node.log_weight + order * node.loss;
    if (exponent > largest) {
      largest = exponent;
      reference = node.loss;
    }
  }
  double sum = 0;
  double first = 0;
  double second = 0;
  for (const auto& node : nodes) {
    const double exponent = node.log_weight + order * node.loss - largest;
    if (exponent < -45) continue;
    const double weight = std::exp(exponent);
    const double distance = node.loss - reference;
    sum += weight;
    first += weight * distance;
    second += weight * distance * distance;
  }
  const double shift = first / sum;
  TiltedLoss result;
  result.log_normaliser = largest + std::log(sum);
  result.mean = reference + shift;
  result.variance = std::max(0.0, second / sum - shift * shift);
  return result;
}

}  // namespace hyfreedp::accounting
