// The PLD accountant: chooses tilt, lattice step and window, composes in both directions, and narrows the bracket.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
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
constexpr double kAim = 1.5e-5;        // predicted relative distance of the upper answer from the true one
constexpr double kRelaxedAim = 1.2e-4;  // where the fine lattice would be longer than kFineSize
constexpr double kAccept = 6e-4;       // relative width of the bracket above which the lattice is refined
constexpr std::size_t kFineSize = 1 << 15;
constexpr std::size_t kLargestSize = 1 << 22;
constexpr double kWindowMass = 1e-11;  // tilted mass left outside the window
constexpr int kRefinements = 5;

// One mechanism with its quadrature nodes, rebuilt when a higher order is asked for. Losses are capped where the lattice
// will be cut, or the far tail, which the lattice does not hold, would decide the moments of high order.
struct Member {
  LossPair pair;
  double count;
  double bottom = -kInfinity;
  double top = kInfinity;
  double reach = 0;  // orders covered: [-reach, reach + 1]
  std::vector<LossNode> nodes = {};

  const std::vector<LossNode>& at(double order) {
    const double wanted = std::max(std::abs(order), std::abs(order - 1));
    if (wanted > reach) {
      reach = std::max(4.0, 1.5 * wanted);
      nodes = loss_nodes(pair, -reach, reach + 1);
      for (auto& node : nodes) node.loss = std::clamp(node.loss, bottom, top);
    }
    return nodes;
  }
};

enum class Direction { remove, add };

// Cumulant generating function of the composed loss and its derivatives, in one direction.
TiltedLoss composed_tilt(std::vector<Member>& members, Direction direction, double theta) {
  const bool add = direction == Direction::add;
  const double order = add ? -theta : theta + 1;
  TiltedLoss total;
  for (auto& member : members) {
    const auto one = tilted_loss(member.at(order), order);
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
Saddle saddle_at(std::vector<Member>& members, Direction direction, double theta) {
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
Saddle find_saddle(std::vector<Member>& members, Direction direction, const F& beyond) {
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
    total += weight * (distance < step ? std::min(distance * (step - distance), step * step / 6) : step * step / 6);
  }
  return total / sum;
}

// Rise of log delta that the lattice causes, predicted.
double predicted_rise(std::vector<Member>& members, Direction direction, double theta, double step) {
  const double order = direction == Direction::add ? -theta : theta + 1;
  double total = 0;
  for (auto& member : members) {
    total += member.count * added_variance(member.at(order), order, lattice_anchor(member.pair), step);
  }
  return total * theta * (theta + 1) / 2;
}

double step_for(std::vector<Member>& members, Direction direction, double theta, double rise) {
  double low = -30;  // log step
  double high = 3;
  while (high - low > 1e-3) {
    const double middle = (low + high) / 2;
    (predicted_rise(members, direction, theta, std::exp(middle)) > rise ? high : low) = middle;
  }
  return std::exp(low);
}

struct Reach {
  double low = 0;
  double high = 0;
  double up_rate = 1;
  double down_rate = 1;
};

// Where the tilted composition keeps all but kWindowMass, by Chernoff.
Reach reach_of(std::vector<Member>& members, Direction direction, const Saddle& saddle) {
  const double wanted = -std::log(kWindowMass);
  const double scale = std::sqrt(2 * wanted / std::max(saddle.tilt.variance, 1e-30));
  Reach reach;
  reach.low = -kInfinity;
  reach.high = kInfinity;
  for (const double factor : {0.25, 0.5, 0.8, 1.0, 1.3}) {
    const double rate = factor * scale;
    const double up = composed_tilt(members, direction, saddle.theta + rate).log_normaliser;
    const double top = (up - saddle.tilt.log_normaliser + wanted) / rate;
    if (top < reach.high) {
      reach.high = top;
      reach.up_rate = rate;
    }
    const double down = composed_tilt(members, direction, saddle.theta - rate).log_normaliser;
    const double bottom = -(down - saddle.tilt.log_normaliser + wanted) / rate;
    if (bottom > reach.low) {
      reach.low = bottom;
      reach.down_rate = rate;
    }
  }
  return reach;
}

struct Plan {
  Direction direction = Direction::remove;
  Saddle saddle;
  Reach reach;
  double step = 0;
};

LossWindow window_of(const Plan& plan, double step) {
  const double length = (plan.reach.high - plan.reach.low) / step + 4;
  LossWindow window;
  window.theta = plan.saddle.theta;
  window.low = plan.reach.low;
  window.up_rate = plan.reach.up_rate;
  window.down_rate = plan.reach.down_rate;
  window.size = std::bit_ceil(static_cast<std::size_t>(std::clamp(length, 64.0, double(kLargestSize))));
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
      members_.push_back({LossPair({Noise::gaussian, 1, 1 / std::sqrt(full_batch), 1}, Neighbouring::add_remove), 1});
    }
    double uses = 0;
    for (const auto& member : members_) uses += member.count;
    tail_ = std::max(1e-290, (question_.delta ? *question_.delta : 1e-30) * 1e-8 / uses);
    for (auto& member : members_) {
      const double above = member.pair.p_upper_point(tail_);
      member.top = std::isfinite(above) ? member.pair.loss(above) : member.pair.supremum();
      if (!std::isfinite(member.pair.infimum())) member.bottom = member.pair.loss(member.pair.q_lower_point(tail_));
    }
    both_ = std::any_of(members_.begin(), members_.end(), [](const Member& m) { return !m.pair.symmetric(); });
  }

  Bracket solve() {
    plans_ = {plan(Direction::remove)};
    if (both_) plans_.push_back(plan(Direction::add));
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
      aim *= std::isfinite(width) ? std::clamp(0.3 * accepted / width, 0.02, 0.3) : 0.05;
    }
    return best;
  }

 private:
  Plan plan(Direction direction) {
    Plan made;
    made.direction = direction;
    made.saddle = find_saddle(members_, direction, [&](const Saddle& saddle) {
      return question_.delta ? std::log(*question_.delta) - saddle.log_delta
                             : (saddle.epsilon - *question_.epsilon) / std::max(*question_.epsilon, 1e-2);
    });
    made.reach = reach_of(members_, direction, made.saddle);
    return made;
  }

  double smallest_step() const {
    double step = 0;
    for (const auto& plan : plans_) {
      step = std::max(step, (plan.reach.high - plan.reach.low) / (double(kLargestSize) - 8));
    }
    return step;
  }

  // The finer of both directions' steps.
  double step_with(double aim) {
    double step = kInfinity;
    for (const auto& plan : plans_) {
      const double theta = plan.saddle.theta;
      const double rise =
          question_.delta ? aim * theta * std::max(plan.saddle.epsilon, 1e-4) : std::min(aim * 4, 1e-4);
      step = std::min(step, step_for(members_, plan.direction, theta, rise));
    }
    return step;
  }

  double common_step(double aim, bool may_relax) {
    double step = step_with(aim);
    const auto length = [&](double h) {
      double longest = 0;
      for (const auto& plan : plans_) longest = std::max(longest, (plan.reach.high - plan.reach.low) / h);
      return longest;
    };
    if (may_relax && length(step) > double(kFineSize)) {
      const double relaxed = step_with(kRelaxedAim);
      step = length(relaxed) > double(kFineSize) ? relaxed : length(step) / double(kFineSize - 8) * step;
    }
    return std::max(step, smallest_step());
  }

  Bracket compose(double step) {
    std::vector<std::vector<LossTerm>> upper(plans_.size());
    std::vector<std::vector<LossTerm>> lower(plans_.size());
    for (const auto& member : members_) {
      const LossCells cells = loss_cells(member.pair, step, tail_);
      const auto count = static_cast<std::int64_t>(member.count);
      upper[0].push_back({discrete_upper(cells), count});
      lower[0].push_back({discrete_lower(cells), count});
      if (plans_.size() > 1) {
        const LossCells other = exchanged(cells);
        upper[1].push_back({discrete_upper(other), count});
        lower[1].push_back({discrete_lower(other), count});
      }
    }
    Bracket bracket;
    for (std::size_t d = 0; d < plans_.size(); ++d) {
      const LossWindow window = window_of(plans_[d], step);
      const ComposedLoss above(upper[d], window, ComposedLoss::Bound::upper);
      const ComposedLoss below(lower[d], window, ComposedLoss::Bound::lower);
      bracket.upper = std::max(bracket.upper, question_.delta ? above.epsilon(*question_.delta)
                                                              : above.delta(*question_.epsilon));
      bracket.lower = std::max(bracket.lower, question_.delta ? below.epsilon(*question_.delta)
                                                              : below.delta(*question_.epsilon));
    }
    return bracket;
  }

  Question question_;
  std::vector<Member> members_;
  std::vector<Plan> plans_;
  bool both_ = false;
  double tail_ = 0;
};

Result<Bracket> price(const SplitContent& content, Neighbouring neighbouring, const Question& question) {
  if (!content.selections.empty()) {
    return error("Private selection has no privacy loss distribution here; the PLD accountant cannot price it. Use RDP.");
  }
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace && neighbouring == Neighbouring::replace_one && mechanism.sample_rate < 1) {
      return error("Subsampled Laplace noise is priced under add-remove neighbours only, not under replace-one.");
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
    answer.note = fmt::format("wide bracket: the true epsilon lies between {:.6g} and {:.6g}", answer.epsilon_lower,
                              answer.epsilon);
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
