#include "harness/accounting/pld_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double order_of(Direction direction, double theta) {
  return direction == Direction::add ? -theta : theta + 1;
}

// The saddle point of M(theta) e^{-theta eps} / (theta (theta + 1)): its epsilon and the leading
// term of log delta.
Saddle saddle_at(const std::vector<Member>& members, Direction direction, double theta) {
  Saddle saddle;
  saddle.theta = theta;
  saddle.tilt = composed_tilt(members, direction, theta);
  saddle.epsilon = saddle.tilt.mean - 1 / theta - 1 / (theta + 1);
  const double curvature = saddle.tilt.variance + 1 / (theta * theta) + 1 / ((theta + 1) * (theta + 1));
  saddle.log_delta = saddle.tilt.log_normaliser - theta * saddle.epsilon - std::log(theta * (theta + 1)) -
                     0.5 * std::log(2 * std::numbers::pi * curvature);
  return saddle;
}

// Weights and distances from the lattice's anchor of one member's tilted loss.
struct Spread {
  std::vector<double> weights;
  std::vector<double> distances;
  double count = 0;
};

Spread spread_of(const Member& member, double order) {
  Spread spread;
  spread.count = member.count;
  const double anchor = lattice_anchor(member.pair);
  double largest = -kInfinity;
  for (const auto& node : member.nodes) largest = std::max(largest, node.log_weight + order * node.loss);
  double sum = 0;
  for (const auto& node : member.nodes) {
    const double exponent = node.log_weight + order * node.loss - largest;
    if (exponent < -30) continue;
    spread.weights.push_back(std::exp(exponent));
    spread.distances.push_back(std::abs(node.loss - anchor));
    sum += spread.weights.back();
  }
  for (auto& weight : spread.weights) weight /= sum;
  return spread;
}

// Mean over a cell of (distance to the lower end) x (distance to the upper end): what connecting
// the dots adds to the variance. Below the first lattice point after the anchor the loss may be
// piled up; further away it is spread.
double added_variance(const Spread& spread, double step) {
  const double even = step * step / 6;
  double total = 0;
  for (std::size_t i = 0; i < spread.weights.size(); ++i) {
    const double distance = spread.distances[i];
    total += spread.weights[i] * (distance < step ? std::min(distance * (step - distance), even) : even);
  }
  return spread.count * total;
}

}  // namespace

std::vector<Member> members_of(const SplitContent& content, Neighbouring neighbouring) {
  std::vector<Member> members;
  double full_batch = 0;
  const double distance = neighbouring == Neighbouring::replace_one ? 2 : 1;
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::gaussian && mechanism.sample_rate == 1) {
      const double scaled = distance / mechanism.noise_multiplier;
      full_batch += static_cast<double>(mechanism.count) * scaled * scaled;
    } else {
      members.push_back({LossPair(mechanism, neighbouring), static_cast<double>(mechanism.count)});
    }
  }
  if (full_batch > 0) {
    members.push_back(
        {LossPair({Noise::gaussian, 1, 1 / std::sqrt(full_batch), 1}, Neighbouring::add_remove), 1});
  }
  return members;
}

void place_nodes(std::vector<Member>& members, double tail) {
  for (auto& member : members) member.nodes = central_nodes(member.pair, std::min(tail, 1e-30), tail);
}

std::vector<Direction> directions_of(const std::vector<Member>& members) {
  const bool both =
      std::any_of(members.begin(), members.end(), [](const Member& m) { return !m.pair.symmetric(); });
  return both ? std::vector{Direction::remove, Direction::add} : std::vector{Direction::remove};
}

TiltedLoss composed_tilt(const std::vector<Member>& members, Direction direction, double theta) {
  const bool add = direction == Direction::add;
  const double order = order_of(direction, theta);
  TiltedLoss total;
  for (const auto& member : members) {
    const auto one = tilted_loss(member.nodes, order);
    total.log_normaliser += member.count * one.log_normaliser;
    total.mean += member.count * (add ? -one.mean : one.mean);
    total.variance += member.count * one.variance;
  }
  return total;
}

// Newton's method in log theta within a bracket that closes in.
Saddle find_saddle(const std::vector<Member>& members, Direction direction, const Question& question) {
  double low = std::log(1e-3);
  double high = std::log(1e7);
  double at = 0.7;
  Saddle saddle;
  for (int i = 0; i < 60; ++i) {
    const double theta = std::exp(at);
    saddle = saddle_at(members, direction, theta);
    // d eps / d log theta
    const double bend = theta * saddle.tilt.variance + 1 / theta + theta / ((theta + 1) * (theta + 1));
    double value = 0;  // grows with theta, zero at the target
    double slope = 0;
    if (question.delta) {
      value = std::log(*question.delta) - saddle.log_delta;
      slope = theta * bend;
    } else {
      value = (saddle.epsilon - *question.epsilon) * theta;
      slope = bend * theta;
    }
    if (std::abs(value) < 1e-2 && std::abs(value) < 1e-2 * slope) break;
    (value < 0 ? low : high) = at;
    if (high - low < 1e-3) break;
    const double newton = at - std::clamp(value / slope, -2.5, 2.5);
    at = newton > low && newton < high ? newton : 0.5 * (low + high);
  }
  return saddle;
}

// (1 - e^{-u})_+ <= c e^{theta u} with c = theta^theta / (theta + 1)^(theta + 1) bounds delta(eps)
// by c M(theta) e^{-theta eps} (Canonne, Kamath & Steinke 2020, Proposition 12), for every theta.
bool stays_below(const std::vector<Member>& members, Direction direction, double theta, double epsilon,
                 double log_target) {
  for (const double factor : {1.0, 1.3, 1.7, 2.3, 3.5, 6.0, 12.0, 40.0}) {
    const double at = factor * theta;
    const double log_bound = composed_tilt(members, direction, at).log_normaliser - at * epsilon +
                             at * std::log(at) - (at + 1) * std::log1p(at);
    // the 2 covers the quadrature and the tails cut off it
    if (log_bound < log_target - std::log(2)) return true;
  }
  return false;
}

double step_for(const std::vector<Member>& members, Direction direction, double theta, double rise) {
  const double order = order_of(direction, theta);
  std::vector<Spread> spreads;
  double uses = 0;
  for (const auto& member : members) {
    spreads.push_back(spread_of(member, order));
    uses += member.count;
  }
  const double allowed = 2 * rise / (theta * (theta + 1));  // of added variance
  // Were every loss spread out: the smallest the answer can be. Then steps of the square root's
  // size.
  double step = std::sqrt(6 * allowed / uses);
  for (int i = 0; i < 30; ++i) {
    double added = 0;
    for (const auto& spread : spreads) added += added_variance(spread, step);
    const double factor = std::sqrt(allowed / std::max(added, 1e-300));
    if (factor < 1.02) break;
    step *= std::min(factor, 2.0);
    if (step > 20) break;
  }
  return step;
}

Extent extent_for(const std::vector<Member>& members, Direction direction, const Saddle& saddle,
                  double log_allowed, double low, double most_loss) {
  constexpr double kFactors[] = {0.35, 0.5, 0.7, 0.85, 1.0, 1.15, 1.35, 1.6, 2.0, 2.6, 3.5, 5.0, 8.0, 13.0};
  constexpr std::size_t kCount = std::size(kFactors);
  double cumulant[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    cumulant[i] = composed_tilt(members, direction, saddle.theta * kFactors[i]).log_normaliser;
  }
  const double at_saddle = saddle.tilt.log_normaliser - saddle.theta * saddle.epsilon;
  Extent best;
  best.low = low;
  best.length = kInfinity;
  for (std::size_t i = 0; i + 1 < kCount; ++i) {
    const double theta = saddle.theta * kFactors[i];
    const bool is_saddle = kFactors[i] == 1.0;
    if (!is_saddle && cumulant[i] - theta * saddle.epsilon - at_saddle > most_loss) continue;
    for (std::size_t j = i + 1; j < kCount; ++j) {
      const double rate = saddle.theta * kFactors[j] - theta;
      const double above = (cumulant[j] - (theta + rate) * low - log_allowed) / rate;
      const double length = std::max(-log_allowed / theta, above);
      if (length < best.length) best = {theta, rate, low, length};
    }
  }
  return best;
}

LossWindow window_of(const Extent& extent, double step) {
  LossWindow window;
  window.theta = extent.theta;
  window.low = extent.low - 4 * step;  // the lattice starts just above it
  window.up_rate = extent.up_rate;
  const double points = std::clamp(extent.length / step + 8, 64.0, double(kLargestSize));
  window.size = std::bit_ceil(static_cast<std::size_t>(points));
  return window;
}

}  // namespace hyfreedp::accounting
