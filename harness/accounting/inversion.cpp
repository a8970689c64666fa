#include "harness/accounting/inversion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/accounting/inversion_sum.h"
#include "harness/accounting/one_step.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Bounds for log delta, at an epsilon of one over theta: how far cells may move the two bounds
// apart, and how far smoothing may move each.
constexpr double kCellAim = 1e-4;
constexpr double kSmoothAim = 3e-5;
constexpr double kFinestEpsilon = 1e-7;  // smaller ones are not resolved finer in absolute terms
constexpr double kAliased = 1e-6;        // of delta
constexpr double kHidden = 5e-7;         // of delta: the mass of all tails that are cut off
constexpr double kUnseen = 1e-5;         // of delta: what is charged in place of a sum
constexpr double kSlack = 0.25;          // over theta: as far from the plan an answer is taken
constexpr double kFar = 2;               // over theta: the first plan missed
constexpr double kRareTilt = 3;          // tilt times the largest rare loss beyond epsilon
constexpr int kRounds = 8;
constexpr std::size_t kMostWithRare = 16;
constexpr std::size_t kMany = 200;  // from here on cells are four times as coarse in variance
constexpr double kMostWork = 1e9;   // terms times cells

// Two bounds that add up: exactly the common losses, and one rare loss among them.
class Bounds {
 public:
  Value at(Side side, double epsilon) const {
    const bool upper = side == Side::upper;
    if (epsilon < lowest) return {upper ? 1.0 : 0.0, 0};
    Value value{upper ? charge : 0.0, 0};
    for (const auto& sum : upper ? above : below) {
      const Value one = sum.at(epsilon);
      value.delta += one.delta;
      value.derivative += one.derivative;
    }
    return value;
  }
  double charge = 0;           // on the upper bound
  double lowest = -kInfinity;  // below it the charge is too small
  std::vector<Sum> above = {};
  std::vector<Sum> below = {};
};

// An epsilon at which the bound is `delta`, on the safe side; nothing where none is found. Newton's
// method between the points seen on either side, at most `most` at a time.
std::optional<double> solve(const Bounds& bounds, Side side, double epsilon, double delta, double most) {
  constexpr double kNear = 1e-6;
  double low = -kInfinity;
  double high = kInfinity;
  for (int i = 0; i < 100; ++i) {
    const Value value = bounds.at(side, epsilon);
    if (std::isnan(value.delta)) return std::nullopt;
    const double missed = value.delta > 0 ? std::log(value.delta / delta) : -kInfinity;
    const bool safe = side == Side::upper ? missed <= 0 : missed >= 0;
    if (safe && std::abs(missed) < kNear) return epsilon;
    (missed > 0 ? low : high) = epsilon;
    if (high - low < 1e-9 * std::abs(high)) return side == Side::upper ? high : low;
    // A little beyond the root, on the safe side.
    const double slope = value.derivative / value.delta;
    const double aim = missed + (side == Side::upper ? 0.5 : -0.5) * kNear;
    double next = std::isfinite(missed) && slope < 0 ? epsilon + std::clamp(aim / -slope, -most, most)
                                                     : epsilon + (missed > 0 ? most : -most);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    epsilon = next;
  }
  return std::nullopt;
}

// One direction of one question.
class Inversion {
 public:
  Inversion(std::vector<Member>& members, Direction direction, const Question& question)
      : members_(members), direction_(direction), question_(question) {
    for (const auto& member : members_) uses_ += member.count;
  }

  std::optional<Bracket> solve() {
    auto found = with_all_losses();
    if (!found && direction_ == Direction::remove) found = with_rare_losses();
    return found;
  }

 private:
  static Bracket unknown(const Question& question) { return {question.delta ? kInfinity : 1.0, 0}; }

  // Takes the bounds' answer at the planned epsilon into `best`; nothing where there is none.
  // Returns the epsilon that the next plan should be about, or -1 if this one was near enough.
  std::optional<double> take(const Bounds& bounds, double planned, double slack, Bracket& best) const {
    if (question_.epsilon) {
      best.upper = std::min(best.upper, bounds.at(Side::upper, planned).delta);
      best.lower = std::max(best.lower, bounds.at(Side::lower, planned).delta);
      return -1;
    }
    const double delta = *question_.delta;
    if (planned < slack && bounds.at(Side::upper, 0).delta <= delta) {
      best = {0, 0};
      return -1;
    }
    const auto above = accounting::solve(bounds, Side::upper, planned, delta, 8 * slack);
    if (!above) return std::nullopt;
    best.upper = std::min(best.upper, std::max(0.0, *above));
    const auto below = accounting::solve(bounds, Side::lower, *above, delta, 8 * slack);
    if (below) best.lower = std::max(best.lower, *below);
    if (below && std::abs(*above - planned) < slack) return -1;
    return std::max(0.0, *above);
  }

  std::optional<Bracket> with_all_losses() {
    Bracket best = unknown(question_);
    Question target = question_;
    double hidden = question_.delta.value_or(1e-20);
    for (int i = 0; i < kRounds; ++i) {
      const double tail = std::max(1e-290, hidden * kHidden / uses_);
      place_nodes(members_, tail);
      Saddle saddle = find_saddle(members_, direction_, target);
      // A question of delta is about an epsilon of at least 0.
      if (question_.delta && saddle.epsilon < 0) saddle = find_saddle(members_, direction_, {{}, 0.0});
      const double planned = target.epsilon.value_or(std::max(saddle.epsilon, 0.0));
      Bounds bounds;
      const double rise = question_.epsilon ? 1 : saddle.theta * std::max(planned, kFinestEpsilon);
      if (!sums_at(saddle, planned, question_.delta ? std::log(*question_.delta) : saddle.log_delta, rise,
                   tail, true, bounds)) {
        return std::nullopt;
      }
      const auto next = take(bounds, planned, kSlack / saddle.theta, best);
      if (!next) return std::nullopt;
      if (question_.epsilon && hidden > 3 * best.upper && best.upper > 1e-250) {
        hidden = best.upper;
        continue;
      }
      if (*next < 0) return best;
      // A saddle point that is far from the answer: the moments are those of rare losses.
      if (i == 0 && std::abs(*next - planned) > kFar / saddle.theta) return std::nullopt;
      target = {{}, *next};
    }
    return best;
  }

  // Adds the sums over the losses up to where P has `tail`.
  bool sums_at(const Saddle& saddle, double epsilon, double log_delta, double rise, double tail, bool charged,
               Bounds& bounds) {
    const double low = epsilon - 2 * kSlack / saddle.theta;
    const Extent extent = extent_for(members_, direction_, saddle, log_delta + std::log(kAliased), low, 0);
    if (!std::isfinite(extent.length)) return false;
    SumPlan plan{extent.theta, extent.up_rate, extent.length};
    for (const double relaxed : {1.0, 4.0, 16.0, 64.0}) {
      if (members_.size() > kMany && relaxed < 2) continue;
      plan.eta = smoothing(relaxed * rise, plan.theta);
      auto cells = common_cells(plan, tail, relaxed * rise);
      if (too_much(plan, cells)) continue;
      for (const Side side : {Side::upper, Side::lower}) {
        std::vector<Part> parts = parts_of(cells, plan, side);
        (side == Side::upper ? bounds.above : bounds.below).emplace_back(side, plan, parts, false);
      }
      for (std::size_t i = 0; charged && i < cells.size(); ++i)
        bounds.charge += counts_[i] * cells[i].infinite();
      return true;
    }
    return false;
  }

  static double smoothing(double rise, double theta) {
    return std::sqrt(2 * kSmoothAim * rise / (theta * (theta + 1)));
  }

  // Many mechanisms together leave only the first terms.
  static bool too_much(const SumPlan& plan, const std::vector<Cells>& cells) {
    double size = 0;
    for (const auto& one : cells) size += static_cast<double>(one.size());
    if (cells.size() > 16) size *= 16 / static_cast<double>(cells.size());
    return plan.terms() * size > kMostWork;
  }

  std::vector<Part> parts_of(const std::vector<Cells>& cells, const SumPlan& plan, Side side) const {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Masses masses = side == Side::upper ? cells[i].upper() : cells[i].lower();
      parts.push_back({counts_[i], Phases(atoms_of(masses, plan.theta, plan.up_rate, plan.window))});
    }
    return parts;
  }

  // Cells of every mechanism's losses up to where P has `tail`; full-batch Gaussians go to the
  // plan.
  std::vector<Cells> common_cells(SumPlan& plan, double tail, double rise) {
    std::vector<Cells> cells;
    counts_.clear();
    plan.gaussian = 0;
    for (const auto& member : members_) {
      const double theta = plan.theta;
      if (is_exact(member)) {
        plan.gaussian += member.count / (member.pair.sigma() * member.pair.sigma());
        continue;
      }
      const double order = direction_ == Direction::add ? -theta : theta + 1;
      cells.emplace_back(member, direction_, theta, tilted_loss(member.nodes, order).log_normaliser, tail);
      counts_.push_back(member.count);
    }
    refine(cells, kCellAim * rise);
    return cells;
  }

  static bool is_exact(const Member& member) {
    return member.pair.noise() == Noise::gaussian && member.pair.rate() == 1;
  }

  // Halves cells until the bounds of log M(theta) lie within `aim`, or rounding keeps them apart.
  static void refine(std::vector<Cells>& cells, double aim) {
    double last = kInfinity;
    for (int i = 0; i < 60; ++i) {
      double gap = 0;
      std::size_t count = 0;
      for (const auto& one : cells) {
        gap += one.gap();
        count += one.size();
      }
      if (gap <= aim || (i > 20 && gap > 0.98 * last)) return;
      if (count > kMostCells + 256 * cells.size()) return;
      last = gap;
      for (auto& one : cells) one.halve(0.7 * std::min(gap, aim) / static_cast<double>(count));
    }
  }

  // delta(eps) of one step of each use, added up; its slope is that of delta where rare losses
  // decide.
  double of_single_losses(double epsilon) const {
    double sum = 0;
    for (const auto& member : members_) {
      if (!is_exact(member)) sum += member.count * one_step_delta(member.pair, epsilon).upper;
    }
    return sum;
  }

  std::optional<Bracket> with_rare_losses() {
    Bracket best = unknown(question_);
    if (members_.size() > kMostWithRare) return std::nullopt;
    double epsilon = question_.epsilon.value_or(0);
    if (question_.delta) {
      double low = 0;
      double high = 1;
      while (of_single_losses(high) > *question_.delta && high < 1e6) high *= 2;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (of_single_losses(middle) > *question_.delta ? low : high) = middle;
      }
      epsilon = high;
    }
    double delta = question_.delta.value_or(of_single_losses(epsilon));
    for (int i = 0; i < kRounds; ++i) {
      if (!(delta > 1e-280)) return std::nullopt;
      const double nearby = std::max(epsilon, kFinestEpsilon);
      double theta =
          std::log(of_single_losses(0.99 * nearby) / of_single_losses(1.01 * nearby)) / (0.02 * nearby);
      if (!(theta > 0) || !std::isfinite(theta)) return std::nullopt;
      Bounds bounds;
      if (!rare_sums_at(epsilon, delta, theta, bounds)) return std::nullopt;
      const auto next = take(bounds, epsilon, kSlack / theta, best);
      if (!next) return std::nullopt;
      if (question_.epsilon && delta > 3 * best.upper) {
        delta = best.upper;
        continue;
      }
      if (*next < 0) return best;
      epsilon = *next;
    }
    return best;
  }

  // Losses above a point that one use in all exceeds with probability `rare` are rare: two of
  // them are charged as an infinite loss, and the sums are over none and over one. The latter's
  // tilt is small against the largest loss, which would decide everything otherwise.
  bool rare_sums_at(double epsilon, double delta, double slope, Bounds& bounds) {
    const double rare = std::sqrt(2 * kUnseen * delta);
    const double common_tail = rare / uses_;
    const double tail = std::max(1e-290, kUnseen * delta / uses_);
    bounds.charge = 0.5 * rare * rare + std::max(kUnseen * delta, tail * uses_);
    place_nodes(members_, common_tail);
    double largest = 0;
    for (const auto& member : members_) {
      if (!is_exact(member)) largest = std::max(largest, member.pair.loss(member.pair.p_upper_point(tail)));
    }
    if (!(largest > 1.01 * epsilon)) return false;
    if (!none_rare(epsilon, delta, common_tail, bounds)) return false;
    const double rise = question_.epsilon ? 1 : slope * std::max(epsilon, kFinestEpsilon);
    SumPlan plan;
    plan.theta = kRareTilt / (largest - epsilon);
    plan.up_rate = 2 * plan.theta;
    const double decades = std::log(rare / delta) - std::log(kAliased);
    plan.window = std::max(decades / plan.theta, largest - epsilon + (kRareTilt + decades) / plan.up_rate);
    plan.eta = smoothing(rise, slope);
    SumPlan steep = plan;
    steep.theta = slope;  // the common losses matter as far as they move epsilon
    auto cells = common_cells(steep, common_tail, rise);
    plan.gaussian = steep.gaussian;
    std::vector<Cells> jumps;
    for (const auto& member : members_) {
      if (!is_exact(member)) jumps.emplace_back(member, common_tail, tail, epsilon, plan.eta);
    }
    if (too_much(plan, cells) || too_much(plan, jumps)) return false;
    for (const Side side : {Side::upper, Side::lower}) {
      auto parts = parts_of(cells, plan, side);
      for (std::size_t i = 0; i < jumps.size(); ++i) {
        const Masses masses = side == Side::upper ? jumps[i].upper() : jumps[i].lower();
        if (masses.losses.empty()) continue;
        parts[i].rare.emplace(atoms_of(masses, plan.theta, plan.up_rate, plan.window));
      }
      (side == Side::upper ? bounds.above : bounds.below).emplace_back(side, plan, parts, true);
    }
    return true;
  }

  // The sums over compositions without a rare loss: where they have next to nothing, Chernoff's
  // inequality stands in for them.
  bool none_rare(double epsilon, double delta, double tail, Bounds& bounds) {
    const Saddle saddle = find_saddle(members_, direction_, {{}, epsilon});
    const double theta = saddle.theta;
    SumPlan plan{.theta = theta};
    double log_bound = 0;
    const auto cells = common_cells(plan, tail, 0.1 / kCellAim);
    for (std::size_t i = 0; i < cells.size(); ++i)
      log_bound += counts_[i] * log_sum_of(cells[i].upper(), theta);
    log_bound += 0.5 * plan.gaussian * theta * (theta + 1);
    const double at_low = log_bound - theta * (epsilon - kSlack / theta);
    const double factor = theta * std::log(theta) - (theta + 1) * std::log1p(theta);
    if (at_low + factor < std::log(kUnseen * delta)) {
      bounds.charge += kUnseen * delta;
      bounds.lowest = epsilon - kSlack / theta;
      return true;
    }
    const double rise = question_.epsilon ? 1 : theta * std::max(epsilon, kFinestEpsilon);
    return sums_at(saddle, epsilon, std::log(delta), rise, tail, false, bounds);
  }

  std::vector<Member>& members_;
  Direction direction_;
  Question question_;
  double uses_ = 0;
  std::vector<double> counts_ = {};  // of the members that have cells
};

// True if delta in this direction stays below the question's answer so far, a lower bound in
// another direction. The nodes must be placed for the question.
bool is_below(const std::vector<Member>& members, Direction direction, const Question& question,
              double lower) {
  if (!(lower > 0)) return false;
  const double epsilon = question.epsilon.value_or(lower);
  const double log_target = std::log(question.delta.value_or(lower));
  const Saddle saddle = find_saddle(members, direction, {{}, epsilon});
  return stays_below(members, direction, saddle.theta, epsilon, log_target);
}

}  // namespace

std::optional<Bracket> inversion_bracket(std::vector<Member> members, const Question& question) {
  Bracket bracket;
  for (const auto direction : directions_of(members)) {
    // Adding a record rarely decides.
    if (direction == Direction::add && is_below(members, direction, question, bracket.lower)) continue;
    const auto one = Inversion(members, direction, question).solve();
    if (!one) return std::nullopt;
    bracket.upper = std::max(bracket.upper, one->upper);
    bracket.lower = std::max(bracket.lower, one->lower);
  }
  return bracket;
}

}  // namespace hyfreedp::accounting
