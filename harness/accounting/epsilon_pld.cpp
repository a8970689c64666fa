// The PLD accountant: chooses tilt, lattice step and window, composes in both directions, and narrows the bracket.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <optional>

#include "harness/accounting/accountant.h"
#include "harness/accounting/gdp.h"
#include "harness/accounting/loss_moments.h"
#include "harness/accounting/one_step.h"
#include "harness/accounting/pld.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kAim = 1.5e-5;         // predicted relative distance of the upper answer from the true one
constexpr double kRelaxedAim = 1.2e-4;  // where the fine lattice would be longer than kFineSize
constexpr double kAccept = 9e-4;        // relative width of the bracket above which the lattice is refined
constexpr std::size_t kFineSize = 1 << 15;
constexpr std::size_t kLargestSize = 1 << 22;
constexpr double kFolded = 1e-6;  // of delta: what may fold into the window from outside
constexpr int kRefinements = 5;
constexpr double kFinestEpsilon = 1e-4;  // smaller ones are not resolved finer in absolute terms
constexpr double kSmallestNoise = 0.02;

// One mechanism with quadrature nodes for planning.
struct Member {
  LossPair pair;
  double count;
  std::vector<LossNode> nodes = {};
};

enum class Direction { remove, add };

// Cumulant generating function of the composed loss and its derivatives, in one direction.
TiltedLoss composed_tilt(const std::vector<Member>& members, Direction direction, double theta) {
  const bool add = direction == Direction::add;
  const double order = add ? -theta : theta + 1;
  TiltedLoss total;
  for (const auto& member : members) {
    const auto one = tilted_loss(member.nodes, order);
    total.log_normaliser += member.count * one.log_normaliser;
    total.mean += member.count * (add ? -one.mean : one.mean);
    total.variance += member.count * one.variance;
  }
  return total;
}

struct Saddle {
  double theta = 1;
  double epsilon = 0;
  double log_delta = 0;
  TiltedLoss tilt;
};

// The saddle point of M(theta) e^{-theta eps} / (theta (theta + 1)): its epsilon and the leading term of log delta.
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

// The tilt for a target; `beyond(saddle)` is positive once theta is too large and grows with it.
template <class F>
Saddle find_saddle(const std::vector<Member>& members, Direction direction, const F& beyond) {
  constexpr double kLowest = 1e-3;
  constexpr double kHighest = 1e5;
  double low = std::log(kLowest);
  double high = std::log(kHighest);
  double at = 0.7;
  double step = 1;
  std::optional<double> low_value;
  std::optional<double> high_value;
  Saddle saddle;
  for (int i = 0; i < 60; ++i) {
    saddle = saddle_at(members, direction, std::exp(at));
    const double value = beyond(saddle);
    if (std::abs(value) < 1e-3) break;
    (value < 0 ? low : high) = at;
    (value < 0 ? low_value : high_value) = value;
    if (high - low < 1e-3) break;
    if (low_value && high_value) {
      const double share = std::clamp(*low_value / (*low_value - *high_value), 0.05, 0.95);
      at = low + share * (high - low);
    } else {
      at = std::clamp(at + (value < 0 ? step : -step), low, high);
      step *= 1.6;
    }
  }
  return saddle;
}

// Mean over a cell of (distance to the lower end) x (distance to the upper end): what connecting the dots adds to the
// variance. Below the first lattice point after the anchor the loss may be piled up; further away it is spread.
double added_variance(const std::vector<LossNode>& nodes, double order, double anchor, double step) {
  double largest = -kInfinity;
  for (const auto& node : nodes) largest = std::max(largest, node.log_weight + order * node.loss);
  double sum = 0;
  double total = 0;
  for (const auto& node : nodes) {
    const double exponent = node.log_weight + order * node.loss - largest;
    if (exponent < -40) continue;
    const double weight = std::exp(exponent);
    const double distance = std::abs(node.loss - anchor);
    sum += weight;
    total += weight *
             (distance < step ? std::min(distance * (step - distance), step * step / 6) : step * step / 6);
  }
  return total / sum;
}

// Rise of log delta that the lattice causes, predicted.
double predicted_rise(const std::vector<Member>& members, Direction direction, double theta, double step) {
  const double order = direction == Direction::add ? -theta : theta + 1;
  double total = 0;
  for (const auto& member : members) {
    total += member.count * added_variance(member.nodes, order, lattice_anchor(member.pair), step);
  }
  return total * theta * (theta + 1) / 2;
}

double step_for(const std::vector<Member>& members, Direction direction, double theta, double rise) {
  double low = -30;  // log step
  double high = 3;
  while (high - low > 1e-3) {
    const double middle = (low + high) / 2;
    (predicted_rise(members, direction, theta, std::exp(middle)) > rise ? high : low) = middle;
  }
  return std::exp(low);
}

// Tilt and extent of the window in which the composition is computed.
struct Extent {
  double theta = 1;
  double up_rate = 1;
  double low = 0;
  double length = 0;
};

// The shortest window from `low` on for which, relative to delta, kFolded comes in from below (e^{-theta length}, see
// pld.cpp) and from above (Chernoff's inequality at theta + up_rate), over tilts near the saddle point: a smaller tilt
// holds back what folds in from above, a larger one what folds in from below. `most_loss` limits the distance from the
// saddle point, which amplifies rounding.
Extent extent_for(const std::vector<Member>& members, Direction direction, const Saddle& saddle,
                  double log_delta, double low, double most_loss) {
  constexpr double kFactors[] = {0.35, 0.5, 0.7, 0.85, 1.0, 1.15, 1.35, 1.6, 2.0, 2.6, 3.5, 5.0, 8.0, 13.0};
  constexpr std::size_t kCount = std::size(kFactors);
  double cumulant[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    cumulant[i] = composed_tilt(members, direction, saddle.theta * kFactors[i]).log_normaliser;
  }
  const double log_allowed = log_delta + std::log(kFolded);
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

struct Plan {
  Direction direction = Direction::remove;
  Saddle saddle;
  Extent extent;
};

LossWindow window_of(const Extent& extent, double step) {
  LossWindow window;
  window.theta = extent.theta;
  window.low = extent.low - 4 * step;  // the lattice starts just above it
  window.up_rate = extent.up_rate;
  const double points = std::clamp(extent.length / step + 8, 64.0, double(kLargestSize));
  window.size = std::bit_ceil(static_cast<std::size_t>(points));
  return window;
}

// The target of one question: epsilon at delta, or delta at epsilon.
struct Question {
  std::optional<double> delta;
  std::optional<double> epsilon;
};

struct Bracket {
  double upper = 0;
  double lower = 0;
};

class PldRun {
 public:
  PldRun(const SplitContent& content, Neighbouring neighbouring, Question question) : question_(question) {
    double full_batch = 0;  // full-batch Gaussians are one Gaussian
    const double distance = neighbouring == Neighbouring::replace_one ? 2 : 1;
    for (const auto& mechanism : content.mechanisms) {
      if (mechanism.noise == Noise::gaussian && mechanism.sample_rate == 1) {
        const double scaled = distance / mechanism.noise_multiplier;
        full_batch += static_cast<double>(mechanism.count) * scaled * scaled;
      } else {
        members_.push_back({LossPair(mechanism, neighbouring), static_cast<double>(mechanism.count)});
      }
    }
    if (full_batch > 0) {
      members_.push_back(
          {LossPair({Noise::gaussian, 1, 1 / std::sqrt(full_batch), 1}, Neighbouring::add_remove), 1});
    }
    for (const auto& member : members_) uses_ += member.count;
    place_nodes(question_.delta ? *question_.delta : 1e-30);
    both_ =
        std::any_of(members_.begin(), members_.end(), [](const Member& m) { return !m.pair.symmetric(); });
  }

  Bracket solve() {
    make_plans();
    double aim = kAim;
    Bracket best{question_.delta ? kInfinity : 1.0, 0};
    for (int i = 0; i < kRefinements; ++i) {
      const double step = common_step(aim, i == 0);
      const Bracket bracket = compose(step);
      best.upper = std::min(best.upper, bracket.upper);
      best.lower = std::max(best.lower, bracket.lower);
      const double width = best.upper - best.lower;
      const double accepted = kAccept * best.upper;
      if (width <= accepted || best.upper == 0 || step <= smallest_step()) break;
      if (outside_) {
        margin_ *= 5;
        make_plans();
        continue;
      }
      aim *= std::isfinite(width) ? std::clamp(0.3 * accepted / width, 0.02, 0.3) : 0.05;
    }
    return best;
  }

 private:
  // Cuts the far tails and places the nodes; `delta` is the target or a guess of the answer.
  void place_nodes(double delta) {
    tail_ = std::max(1e-290, delta * 2e-7 / uses_);
    for (auto& member : members_) member.nodes = central_nodes(member.pair, std::min(tail_, 1e-30), tail_);
  }

  void make_plans() {
    plans_.assign(1, Plan{});
    if (both_) plans_.push_back({Direction::add, {}, {}});
    find_saddles();
    if (question_.epsilon) {  // the tails can be cut better once delta is known roughly
      place_nodes(std::clamp(std::exp(log_delta_ - 1), 1e-200, 1.0));
      find_saddles();
    }
    for (auto& plan : plans_) {
      const auto& saddle = plan.saddle;
      const double slack =
          question_.delta ? 0.03 * std::abs(saddle.epsilon) + 2 / saddle.theta : 0.5 / saddle.theta;
      const double low = (question_.delta ? saddle.epsilon : *question_.epsilon) - margin_ * slack;
      plan.extent =
          extent_for(members_, plan.direction, saddle, log_delta_, low, std::log(1e6 / (uses_ + 1)));
    }
  }

  void find_saddles() {
    log_delta_ = question_.delta ? std::log(*question_.delta) : -kInfinity;
    for (auto& plan : plans_) {
      plan.saddle = find_saddle(members_, plan.direction, [&](const Saddle& saddle) {
        return question_.delta ? std::log(*question_.delta) - saddle.log_delta
                               : (saddle.epsilon - *question_.epsilon) / std::max(*question_.epsilon, 1e-2);
      });
      if (question_.epsilon) log_delta_ = std::max(log_delta_, std::min(plan.saddle.log_delta, 0.0));
    }
    std::sort(plans_.begin(), plans_.end(), [&](const Plan& a, const Plan& b) {
      return question_.delta ? a.saddle.epsilon > b.saddle.epsilon : a.saddle.log_delta > b.saddle.log_delta;
    });
  }

  double smallest_step() const {
    double step = 0;
    for (const auto& plan : plans_) {
      step = std::max(step, plan.extent.length / (double(kLargestSize) - 8));
    }
    return step;
  }

  // The step that keeps the predicted error within `aim`. The direction with the smaller epsilon does not decide the
  // answer, so its error may be a part of the difference.
  double step_with(double aim) {
    double largest = -kInfinity;
    for (const auto& plan : plans_) largest = std::max(largest, plan.saddle.epsilon);
    double step = kInfinity;
    for (const auto& plan : plans_) {
      const double theta = plan.saddle.theta;
      double rise = 0;
      if (question_.delta) {
        rise =
            theta * std::max(aim * std::max(largest, kFinestEpsilon), 0.2 * (largest - plan.saddle.epsilon));
      } else {
        rise = std::max(std::min(aim * 4, 1e-4), std::min(1.0, 0.2 * (log_delta_ - plan.saddle.log_delta)));
      }
      step = std::min(step, step_for(members_, plan.direction, theta, rise));
    }
    return step;
  }

  double common_step(double aim, bool may_relax) {
    double step = step_with(aim);
    const auto length = [&](double h) {
      double longest = 0;
      for (const auto& plan : plans_) longest = std::max(longest, plan.extent.length / h);
      return longest;
    };
    if (may_relax && length(step) > double(kFineSize)) {
      const double relaxed = step_with(kRelaxedAim);
      step = length(relaxed) > double(kFineSize) ? relaxed : length(step) / double(kFineSize - 8) * step;
    }
    return std::max(step, smallest_step());
  }

  // Composes in both directions, the one that should decide first; the other only where a Renyi bound does not already
  // show that it decides nothing.
  Bracket compose(double step) {
    std::vector<LossCells> cells;
    for (const auto& member : members_) cells.push_back(loss_cells(member.pair, step, tail_));
    Bracket bracket;
    outside_ = false;
    for (const auto& plan : plans_) {
      if (&plan != &plans_.front() && is_dominated(plan, bracket)) continue;
      std::vector<LossTerm> upper;
      std::vector<LossTerm> lower;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        const auto count = static_cast<std::int64_t>(members_[m].count);
        if (plan.direction == Direction::add) cells[m] = exchanged(cells[m]);
        upper.push_back({discrete_upper(cells[m]), count});
        lower.push_back({discrete_lower(cells[m]), count});
        if (plan.direction == Direction::add) cells[m] = exchanged(cells[m]);
      }
      const LossWindow window = window_of(plan.extent, step);
      const ComposedLoss above(upper, window, ComposedLoss::Bound::upper);
      const ComposedLoss below(lower, window, ComposedLoss::Bound::lower);
      if (question_.delta) {
        const double epsilon = above.epsilon(*question_.delta);
        // At either end of the window the answer is a bound, but a better one lies outside.
        const bool at_end = !std::isfinite(epsilon) || (epsilon > 0 && epsilon <= window.low + 6 * step);
        if (epsilon > bracket.upper) outside_ = at_end;
        bracket.upper = std::max(bracket.upper, epsilon);
        bracket.lower = std::max(bracket.lower, below.epsilon(*question_.delta));
      } else {
        bracket.upper = std::max(bracket.upper, above.delta(*question_.epsilon));
        bracket.lower = std::max(bracket.lower, below.delta(*question_.epsilon));
      }
    }
    return bracket;
  }

  // Whether delta in this direction is certainly below what the other one needs: (1 - e^{-u})_+ <= c e^{theta u} with
  // c = theta^theta / (theta + 1)^(theta + 1) bounds delta(eps) by c M(theta) e^{-theta eps} (Canonne, Kamath & Steinke
  // 2020, Proposition 12), for every theta.
  bool is_dominated(const Plan& plan, const Bracket& decided) const {
    const double epsilon = question_.delta ? decided.lower : *question_.epsilon;
    const double target = std::log(question_.delta ? *question_.delta : decided.lower);
    for (const double factor : {1.0, 1.3, 1.7, 2.3, 3.5, 6.0, 12.0, 40.0}) {
      const double theta = factor * plan.saddle.theta;
      const double log_bound = composed_tilt(members_, plan.direction, theta).log_normaliser -
                               theta * epsilon + theta * std::log(theta) - (theta + 1) * std::log1p(theta);
      if (log_bound < target - std::log(2))
        return true;  // the 2 covers the quadrature and the tails cut off it
    }
    return false;
  }

  Question question_;
  std::vector<Member> members_;
  std::vector<Plan> plans_;
  bool both_ = false;
  double tail_ = 0;
  double uses_ = 0;
  double log_delta_ = 0;
  double margin_ = 1;
  bool outside_ = false;
};

// Next to no noise: epsilon is in the thousands, and that of the same noise without sampling bounds it.
Result<Bracket> unsampled_bracket(SplitContent content, Neighbouring neighbouring, const Question& question) {
  for (auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace) {
      return error(fmt::format("The noise multiplier {} is below {}, too small for the PLD accountant.",
                               mechanism.noise_multiplier, kSmallestNoise));
    }
    mechanism.sample_rate = 1;
  }
  const double mu = *exact_mu(content, neighbouring);
  const auto upper =
      question.delta ? gdp_epsilon(mu, *question.delta) : Result<double>(gdp_delta(mu, *question.epsilon));
  if (!upper) return upper.error();
  return Bracket{*upper, 0};
}

Result<Bracket> price(const SplitContent& content, Neighbouring neighbouring, const Question& question) {
  if (!content.selections.empty()) {
    return error(
        "Private selection has no privacy loss distribution here; the PLD accountant cannot price it. Use "
        "RDP.");
  }
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace && neighbouring == Neighbouring::replace_one &&
        mechanism.sample_rate < 1) {
      return error(
          "Subsampled Laplace noise is priced under add-remove neighbours only, not under replace-one.");
    }
  }
  if (const auto mu = exact_mu(content, neighbouring)) {
    const auto value = question.delta ? gdp_epsilon(*mu, *question.delta)
                                      : Result<double>(gdp_delta(*mu, *question.epsilon));
    if (!value) return value.error();
    return Bracket{*value, *value};
  }
  if (content.mechanisms.size() == 1 && content.mechanisms[0].count == 1) {
    const LossPair pair(content.mechanisms[0], neighbouring);
    const double value =
        question.delta ? one_step_epsilon(pair, *question.delta) : one_step_delta(pair, *question.epsilon);
    return Bracket{value, value};
  }
  const auto smallest =
      std::min_element(content.mechanisms.begin(), content.mechanisms.end(),
                       [](const auto& a, const auto& b) { return a.noise_multiplier < b.noise_multiplier; });
  if (smallest->noise_multiplier < kSmallestNoise) return unsampled_bracket(content, neighbouring, question);
  return PldRun(content, neighbouring, question).solve();
}

}  // namespace

Result<EpsilonAnswer> epsilon_pld(const Events& events, double delta) {
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  EpsilonAnswer answer;
  answer.delta = delta;
  answer.accountant = "pld";
  answer.neighbouring = events.neighbouring;
  for (const auto& content : *contents) {
    const auto bracket = price(content, events.neighbouring, {delta, {}});
    if (!bracket) return bracket.error();
    answer.epsilon = std::max(answer.epsilon, bracket->upper);
    answer.epsilon_lower = std::max(answer.epsilon_lower, bracket->lower);
  }
  if (answer.epsilon > 0 && answer.epsilon - answer.epsilon_lower > 2 * kAccept * answer.epsilon) {
    answer.note = fmt::format("wide bracket: the true epsilon lies between {:.6g} and {:.6g}",
                              answer.epsilon_lower, answer.epsilon);
  }
  return answer;
}

Result<DeltaAnswer> delta_pld(const Events& events, double epsilon) {
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) {
    return error(fmt::format("Epsilon is {}; it must be a finite number, at least 0.", epsilon));
  }
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  DeltaAnswer answer;
  answer.epsilon = epsilon;
  answer.neighbouring = events.neighbouring;
  for (const auto& content : *contents) {
    const auto bracket = price(content, events.neighbouring, {{}, epsilon});
    if (!bracket) return bracket.error();
    answer.delta = std::max(answer.delta, bracket->upper);
    answer.delta_lower = std::max(answer.delta_lower, bracket->lower);
  }
  return answer;
}

}  // namespace hyfreedp::accounting
