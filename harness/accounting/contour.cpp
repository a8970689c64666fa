#include "harness/accounting/contour.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "harness/accounting/mechanism.h"
#include "harness/accounting/normal.h"
#include "harness/accounting/turning_sum.h"

namespace hyfreedp::accounting {
namespace {

using Number = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNegligible = 42;       // weights below e^-42 of the largest are left out
constexpr double kPrecision = 32;        // exponent of the quadrature error in x
constexpr double kLogNothing = -600;     // log of a delta too small to be told from zero
constexpr double kNodeCost = 100;        // of placing a node, in units of one node's part in a term
constexpr double kHidden = 1e-11;        // of delta: the mass of all tails that are cut off
constexpr double kAliased = 1e-9;        // of delta
constexpr double kDiedAway = 1e-11;      // of the sum: terms that no longer count
constexpr std::size_t kQuietTerms = 12;  // that many in a row

// sum of weight e^{i t loss} over nodes, for t = 0, step, 2 step, ...: rotations, restarted often.
class Rotation {
 public:
  // Left empty where it would take more than `most` nodes.
  Rotation(const LossPair& pair, double order, double cut, double reach, double step, double most)
      : step_(step) {
    place(pair, order, cut, reach, most);
    turn_re_.resize(losses_.size());
    turn_im_.resize(losses_.size());
    for (std::size_t n = 0; n < losses_.size(); ++n) {
      turn_re_[n] = std::cos(step * losses_[n]);
      turn_im_[n] = std::sin(step * losses_[n]);
    }
    re_ = weights_;
    im_.assign(weights_.size(), 0);
  }

  std::size_t nodes() const { return weights_.size(); }
  // log of E_Q[e^{order L}].
  double log_normaliser() const { return log_normaliser_; }

  Number next() {
    if (index_ > 0 && index_ % 64 == 0) restart();
    Number sum = sum_and_turn(re_.data(), im_.data(), turn_re_.data(), turn_im_.data(), re_.size());
    ++index_;
    return sum;
  }

 private:
  // The noise beyond `cut` is tapered off, smoothly for the trapezoid rule's sake: at high orders
  // the moment of a loss that never occurs would dwarf the rest. Nodes of the tilted noise where
  // its weight counts, close enough for phases of up to `reach` times the loss.
  void place(const LossPair& pair, double order, double cut, double reach, double most) {
    const double sigma = pair.sigma();
    const double variance = sigma * sigma;
    const double taper = 0.25 * sigma;
    const auto exponent = [&](double x) {
      const double beyond = order > 0 ? (x - cut) / taper : -kInfinity;
      const double kept = beyond < -6 ? 0.0 : log_normal_tail(beyond * std::numbers::sqrt2);
      return order * pair.loss(x) + log_density(pair, x) + kept;
    };
    const double margin = 10 * sigma;
    const double low =
        (pair.symmetric() ? std::min(-3.0, -1 - 2 * std::abs(order)) : std::min(0.0, order)) - margin;
    const double high =
        (pair.symmetric() ? std::max(3.0, 1 + 2 * std::abs(order)) : std::max(2.0, order)) + margin;
    const double coarse = 0.25 * sigma;
    if (!((high - low) / coarse <= 2 * most)) return;
    double largest = -kInfinity;
    for (double x = low; x <= high; x += coarse) largest = std::max(largest, exponent(x));
    double from = high;
    double to = low;
    for (double x = low; x <= high; x += coarse) {
      if (exponent(x) < largest - kNegligible) continue;
      from = std::min(from, x - coarse);
      to = std::max(to, x + coarse);
    }
    // Shifted by i y the integrand grows by e^{y^2 / 2 sigma^2 + y reach / sigma^2}, the rule's
    // error falls by e^{-2 pi y / step}.
    const double y = std::min(0.9 * std::numbers::pi * variance, 8 * sigma);
    const double slope = pair.symmetric() ? 2.0 : 1.0;
    double spacing = 2 * std::numbers::pi / (y / (2 * variance) + slope * reach / variance + kPrecision / y);
    if (order > 0 && to > cut - 6 * taper) spacing = std::min(spacing, 0.65 * taper);
    const double count = std::ceil((to - from) / spacing) + 1;
    if (!(count <= most)) return;
    double sum = 0;
    for (double i = 0; i < count; ++i) {
      const double x = from + i * spacing;
      const double weight = std::exp(exponent(x) - largest);
      if (weight < 1e-19) continue;
      weights_.push_back(weight);
      losses_.push_back(pair.loss(x));
      sum += weight;
    }
    for (auto& weight : weights_) weight /= sum;
    log_normaliser_ = largest + std::log(sum * spacing / sigma) - 0.5 * std::log(2 * std::numbers::pi);
  }

  static double log_density(const LossPair& pair, double x) {
    const double sigma = pair.sigma();
    const double zero = -0.5 * x * x / (sigma * sigma);
    if (!pair.symmetric()) return zero;
    const double first = std::log1p(-pair.rate()) + zero;
    const double second = std::log(pair.rate()) - 0.5 * (x + 1) * (x + 1) / (sigma * sigma);
    const double larger = std::max(first, second);
    return larger + std::log1p(std::exp(std::min(first, second) - larger));
  }

  void restart() {
    const double t = step_ * static_cast<double>(index_);
    for (std::size_t n = 0; n < losses_.size(); ++n) {
      re_[n] = weights_[n] * std::cos(t * losses_[n]);
      im_[n] = weights_[n] * std::sin(t * losses_[n]);
    }
  }

  double step_;
  double log_normaliser_ = 0;
  std::int64_t index_ = 0;
  std::vector<double> weights_;
  std::vector<double> losses_;
  std::vector<double> turn_re_;
  std::vector<double> turn_im_;
  std::vector<double> re_;
  std::vector<double> im_;
};

// The integrand's terms along one contour, reusable for every epsilon near the one it was made for.
class Contour {
 public:
  Contour(const Extent& extent, double tail)
      : theta_(extent.theta), step_(2 * std::numbers::pi / extent.length), tail_(tail) {}

  // False where it would take more than `budget`, which is reduced by what it took.
  bool trace(const std::vector<Member>& members, Direction direction, double variance, double epsilon,
             double& budget) {
    double reach = 12 / std::sqrt(variance) + 20 * step_;
    for (int i = 0; i < 12; ++i, reach *= 2.5) {
      switch (trace_to(members, direction, reach, epsilon, budget)) {
        case Outcome::done:
          return true;
        case Outcome::costly:
          return false;
        case Outcome::longer:
          break;
      }
    }
    return false;
  }

  // log delta and its derivative in epsilon; empty where the sum is not positive.
  struct Value {
    double log_delta = 0;
    double slope = 0;
  };
  std::optional<Value> at(double epsilon) const {
    double sum = 0;
    double derivative = 0;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      const double t = step_ * static_cast<double>(k);
      const Number s(theta_, t);
      const Number term = terms_[k] * std::polar(k == 0 ? 0.5 : 1.0, -t * epsilon);
      sum += (term / (s * (s + 1.0))).real();
      derivative -= (term / (s + 1.0)).real();
    }
    if (!(sum > 0)) return std::nullopt;
    return Value{std::log(sum * step_ / std::numbers::pi) + log_normaliser_ - theta_ * epsilon,
                 derivative / sum};
  }

 private:
  enum class Outcome { done, longer, costly };

  Outcome trace_to(const std::vector<Member>& members, Direction direction, double reach, double epsilon,
                   double& budget) {
    const double order = direction == Direction::add ? -theta_ : theta_ + 1;
    std::vector<Rotation> rotations;
    double nodes = 0;
    log_normaliser_ = 0;
    for (const auto& member : members) {
      rotations.emplace_back(member.pair, order, member.pair.p_upper_point(tail_), reach, step_,
                             budget / kNodeCost - nodes);
      if (rotations.back().nodes() == 0) return Outcome::costly;
      nodes += static_cast<double>(rotations.back().nodes()) + 20;
      log_normaliser_ += member.count * rotations.back().log_normaliser();
    }
    budget -= kNodeCost * nodes;
    terms_.clear();
    double sum = 0;
    std::size_t quiet = 0;
    for (std::size_t k = 0;; ++k) {
      const double t = step_ * static_cast<double>(k);
      if (t > reach) return Outcome::longer;
      budget -= nodes;
      if (budget < 0) return Outcome::costly;
      Number log_power = 0;
      for (std::size_t m = 0; m < members.size(); ++m) {
        log_power += members[m].count * std::log(rotations[m].next());
      }
      // In the add direction the loss is -L.
      const Number power = std::exp(direction == Direction::add ? std::conj(log_power) : log_power);
      terms_.push_back(power);
      const Number s(theta_, t);
      const Number term = power / (s * (s + 1.0));
      sum += (term * std::polar(k == 0 ? 0.5 : 1.0, -t * epsilon)).real();
      quiet = std::abs(term) < kDiedAway * std::abs(sum) ? quiet + 1 : 0;
      if (quiet >= kQuietTerms) return Outcome::done;
    }
  }

  double theta_;
  double step_;
  double tail_;
  double log_normaliser_ = 0;  // log M(theta)
  std::vector<Number> terms_;  // M(s) / M(theta)
};

std::optional<double> solve(const Contour& contour, double epsilon, double log_delta) {
  for (int i = 0; i < 50; ++i) {
    const auto value = contour.at(epsilon);
    if (!value || !(value->slope < 0)) return std::nullopt;
    const double move = (log_delta - value->log_delta) / value->slope;
    const double most = 2 / -value->slope;
    epsilon += std::clamp(move, -most, most);
    // Rounding of up to 1e-15 a use keeps the steps from vanishing.
    const double error = std::abs(move * value->slope);
    if (error < 1e-11 || (i > 10 && error < 1e-8)) return epsilon;
  }
  return std::nullopt;
}

// The largest over splits of `value`.
template <class F>
std::optional<double> largest(const Events& events, const F& value) {
  const auto contents = split_contents(events);
  if (!contents) return std::nullopt;
  double result = 0;
  for (const auto& content : *contents) {
    if (!content.selections.empty()) return std::nullopt;
    if (content.mechanisms.empty()) continue;
    for (const auto& mechanism : content.mechanisms) {
      if (mechanism.noise != Noise::gaussian) return std::nullopt;
    }
    const auto members = members_of(content, events.neighbouring);
    const std::optional<double> one = value(members, directions_of(members));
    if (!one) return std::nullopt;
    result = std::max(result, *one);
  }
  return result;
}

}  // namespace

std::optional<double> contour_value(std::vector<Member> members, Direction direction,
                                    const Question& question, double budget) {
  double uses = 0;
  for (const auto& member : members) {
    if (member.pair.noise() != Noise::gaussian) return std::nullopt;
    uses += member.count;
  }
  Question target = question;
  double hidden = question.delta.value_or(1e-20);
  // If the loss comes in rare jumps, the first saddle point is far off; it is moved to the answer.
  for (int i = 0; i < 6; ++i) {
    const double tail = std::max(1e-290, hidden * kHidden / uses);
    place_nodes(members, tail);
    const Saddle saddle = find_saddle(members, direction, target);
    // Beyond the largest loss there is nothing.
    if (question.epsilon && saddle.log_delta < kLogNothing) return 0.0;
    if (!(saddle.tilt.variance > 0)) return std::nullopt;
    const double log_delta = question.delta ? std::log(*question.delta) : saddle.log_delta;
    const double epsilon = question.epsilon ? *question.epsilon : saddle.epsilon;
    const Extent extent = extent_for(members, direction, saddle, log_delta + std::log(kAliased), epsilon, 4);
    if (!std::isfinite(extent.length)) return std::nullopt;
    const double variance = composed_tilt(members, direction, extent.theta).variance;
    Contour contour(extent, tail);
    if (!contour.trace(members, direction, variance, epsilon, budget)) return std::nullopt;
    if (question.epsilon) {
      const auto value = contour.at(epsilon);
      if (!value) return std::nullopt;
      const double delta = std::exp(value->log_delta);
      if (hidden <= 3 * delta) return delta;
      hidden = delta;  // the tails that were cut matter: again, with less cut
      continue;
    }
    const auto found = solve(contour, epsilon, log_delta);
    if (!found) return std::nullopt;
    // The contour was good for the answer too if that is within the aliasing window's slack.
    if (std::abs(*found - epsilon) < 0.25 / saddle.theta) return found;
    target = {{}, *found};
  }
  return std::nullopt;
}

std::optional<double> contour_delta(const Events& events, double epsilon, double budget) {
  return largest(events, [&](const std::vector<Member>& members, const std::vector<Direction>& directions) {
    std::optional<double> best = 0;
    for (const auto direction : directions) {
      const auto one = contour_value(members, direction, {{}, epsilon}, budget);
      if (!one) return one;
      best = std::max(*best, *one);
    }
    return best;
  });
}

std::optional<double> contour_epsilon(const Events& events, double delta, double budget) {
  if (!(delta > 0 && delta < 1)) return std::nullopt;
  return largest(events, [&](const std::vector<Member>& members, const std::vector<Direction>& directions) {
    std::optional<double> best;
    std::vector<Direction> rest;
    for (const auto direction : directions) {
      const auto one = contour_value(members, direction, {delta, {}}, budget);
      if (one) best = std::max(best.value_or(0), *one);
      if (!one) rest.push_back(direction);
    }
    // A direction that never reaches delta has no answer; it must stay below it at the other's.
    for (const auto direction : rest) {
      if (!best) break;
      const auto other = contour_value(members, direction, {{}, *best}, budget);
      if (!other || *other > delta) best.reset();
    }
    return best;
  });
}

}  // namespace hyfreedp::accounting
