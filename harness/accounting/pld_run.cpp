#include "harness/accounting/pld_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "harness/accounting/contour.h"
#include "harness/accounting/inversion.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// predicted relative distance of the upper answer from the true one
constexpr double kAim = 3e-5;
constexpr double kRelaxedAim = 1e-4;   // where the fine lattice would be longer than kFineSize
constexpr double kFineSize = 1 << 14;  // lattice points
constexpr double kStretch = 1.25;      // of the step, to fit a transform of half the length
constexpr double kGuideBudget =
    3e5;  // about 0.3 ms; ten times that from 50 uses on, where it rarely takes it
constexpr std::size_t kMostGuided = 16;
constexpr double kPatientBudget = 1e8;  // where the first plan missed
constexpr std::size_t kLargestKept =
    1 << 18;  // transforms beyond this length are not kept for the next question
constexpr int kRefinements = 8;
// a second or some, after which the bracket is left as it is
constexpr double kMostWork = 6e7;
// Some tenths of a second: what would take longer is inverted instead, and what
// comes out wider than kHopeless times what is accepted.
constexpr double kLongWork = 3e7;
constexpr double kLongWorkOfMany = 5e7;
constexpr double kHopeless = 10;
constexpr double kManyUses = 1e4;        // from here on rounding may limit the bracket
constexpr double kFinestEpsilon = 1e-7;  // smaller ones are not resolved finer in absolute terms
constexpr int kLowerCoarsening = 2;      // the lower bound's lattice, over the upper's

struct Plan {
  Direction direction = Direction::remove;
  Saddle saddle = {};
  Extent extent = {};
  bool decides = true;  // as far as can be told beforehand
  bool guided = false;  // the saddle point lies at the answer, not at an estimate of it
};

// Both bounds of one direction while members are added.
struct Compositions {
  const Plan* plan = nullptr;
  Composition upper;
  Composition lower;
};

class PldRun {
 public:
  PldRun(const SplitContent& content, Neighbouring neighbouring, const Question& question, Workbench& bench)
      : question_(question), members_(members_of(content, neighbouring)), bench_(bench) {
    for (const auto& member : members_) uses_ += member.count;
    guide_budget_ = uses_ < 50 ? kGuideBudget : 10 * kGuideBudget;
    place_nodes(question_.delta ? *question_.delta : 1e-30);
  }

  Bracket solve() {
    make_plans();
    double aim = kAim;
    double last_width = kInfinity;
    Bracket best{question_.delta ? kInfinity : 1.0, 0};
    for (int i = 0; i < kRefinements; ++i) {
      const double step = common_step(aim, i == 0);
      const double long_work = members_.size() > kMostGuided ? kLongWorkOfMany : kLongWork;
      if (work_ + work_of(step) > long_work && invert(best)) return best;
      const Bracket bracket = compose(step);
      best.upper = std::min(best.upper, bracket.upper);
      best.lower = std::max(best.lower, bracket.lower);
      const double width = best.upper - best.lower;
      const double accepted = kPldWidth * best.upper;
      if (is_narrow(best)) return best;
      const bool hopeless = !std::isfinite(width) || (i > 0 && width > kHopeless * accepted);
      if (hopeless && invert(best)) return best;
      if (work_ > kMostWork) break;
      if (step <= smallest_step() && !outside_) break;
      if (uses_ > kManyUses && i > 2 && width > 0.9 * last_width) break;  // limited by rounding
      last_width = width;
      const bool amplified = uses_ > kManyUses && i < 2 && width > 3 * accepted;
      if (outside_ || amplified) {
        margin_ *= 5;
        guide_budget_ = kPatientBudget;
        retried_ = i > 0;  // rounding may have been amplified
        make_plans();
        continue;
      }
      aim *= std::isfinite(width) ? std::clamp(0.5 * accepted / width, 0.02, 0.5) : 0.05;
    }
    invert(best);
    return best;
  }

 private:
  bool is_narrow(const Bracket& bracket) const {
    if (!std::isfinite(bracket.upper)) return false;  // not within its thousandth
    const double width = bracket.upper - bracket.lower;
    if (width <= kPldWidth * bracket.upper || bracket.upper == 0) return true;
    return question_.delta && bracket.upper < kFinestEpsilon && width <= kPldWidth * kFinestEpsilon;
  }

  // Narrows the bracket by inversion.h, once; whether it is narrow then.
  bool invert(Bracket& best) {
    if (inverted_) return false;
    inverted_ = true;
    const auto bracket = inversion_bracket(members_, question_);
    if (!bracket) return false;
    best.upper = std::min(best.upper, bracket->upper);
    best.lower = std::max(best.lower, bracket->lower);
    return is_narrow(best);
  }

  // The work of composing on a lattice of this step.
  double work_of(double step) const {
    double work = 0;
    for (const auto& plan : plans_) {
      if (!plan.decides) continue;
      for (const double one : {step, step * kLowerCoarsening}) {
        work += Composition::work_of(window_of(plan.extent, one));
      }
    }
    return work * static_cast<double>(members_.size());
  }

  // Cuts the far tails and places the nodes; `delta` is the target or a guess of the answer.
  void place_nodes(double delta) {
    tail_ = std::max(1e-290, delta * 5e-7 / uses_);
    accounting::place_nodes(members_, tail_);
  }

  void make_plans() {
    plans_.clear();
    for (const auto direction : directions_of(members_)) plans_.push_back({direction});
    find_saddles();
    if (question_.epsilon) {  // the tails can be cut better once delta is known roughly
      place_nodes(std::clamp(std::exp(log_delta_ - 1), 1e-200, 1.0));
      find_saddles();
    }
    if (question_.delta) {
      for (auto& plan : plans_) guide(plan);
    }
    for (auto& plan : plans_) {
      const auto& saddle = plan.saddle;
      double slack = 0.5 / saddle.theta;
      if (question_.delta && !plan.guided) slack = 0.03 * std::abs(saddle.epsilon) + 2 / saddle.theta;
      if (plan.guided) slack = 0.1 / saddle.theta;
      const double low = (question_.delta ? saddle.epsilon : *question_.epsilon) - margin_ * slack;
      // The mass that may fold in moves epsilon by a part of the aim.
      const double folded = question_.delta
                                ? std::clamp(0.1 * kAim * saddle.theta * std::abs(saddle.epsilon), 1e-9, 1e-4)
                                : 5e-6;
      // Away from the saddle point rounding, about 3e-14 a use, is amplified: up to what may fold
      // in.
      const double most_loss = retried_ ? 0 : std::max(0.0, std::log(folded / (3e-14 * (uses_ + 1))));
      plan.extent =
          extent_for(members_, plan.direction, saddle, log_delta_ + std::log(folded), low, most_loss);
    }
    Bracket guess;
    guess.lower =
        question_.delta ? 0.98 * plans_.front().saddle.epsilon : 0.5 * std::exp(std::min(log_delta_, 0.0));
    for (std::size_t i = 1; i < plans_.size(); ++i) plans_[i].decides = !is_dominated(plans_[i], guess);
  }

  void find_saddles() {
    log_delta_ = question_.delta ? std::log(*question_.delta) : -kInfinity;
    for (auto& plan : plans_) {
      plan.saddle = find_saddle(members_, plan.direction, question_);
      if (question_.epsilon) log_delta_ = std::max(log_delta_, std::min(plan.saddle.log_delta, 0.0));
    }
    std::sort(plans_.begin(), plans_.end(), [&](const Plan& a, const Plan& b) {
      return question_.delta ? a.saddle.epsilon > b.saddle.epsilon : a.saddle.log_delta > b.saddle.log_delta;
    });
  }

  // Moves the saddle point to the epsilon that inverting the moment generating function gives,
  // where that is cheap.
  void guide(Plan& plan) {
    if (members_.size() > kMostGuided) return;
    const auto epsilon = contour_value(members_, plan.direction, question_, guide_budget_);
    if (!epsilon) return;
    const Saddle moved = find_saddle(members_, plan.direction, {{}, *epsilon});
    if (std::abs(moved.epsilon - *epsilon) > 0.05 / moved.theta) return;
    plan.saddle = moved;
    plan.saddle.epsilon = *epsilon;
    plan.guided = true;
  }

  double longest() const {
    double length = 0;
    for (const auto& plan : plans_) {
      if (plan.decides) length = std::max(length, plan.extent.length);
    }
    return length;
  }
  double smallest_step() const { return longest() / (double(kLargestSize) - 8); }

  // The step that keeps the predicted error within `aim`. The direction with the smaller epsilon
  // does not decide the answer, so its error may be a part of the difference.
  double step_with(double aim) {
    double largest = -kInfinity;
    for (const auto& plan : plans_) largest = std::max(largest, plan.saddle.epsilon);
    double step = kInfinity;
    for (const auto& plan : plans_) {
      if (!plan.decides) continue;
      const double theta = plan.saddle.theta;
      double rise = 0;
      if (question_.delta) {
        rise =
            theta * std::max(aim * std::max(largest, kFinestEpsilon), 0.2 * (largest - plan.saddle.epsilon));
      } else {
        rise = std::max(aim, std::min(1.0, 0.2 * (log_delta_ - plan.saddle.log_delta)));
      }
      step = std::min(step, step_for(members_, plan.direction, theta, rise));
    }
    return step;
  }

  double common_step(double aim, bool may_relax) {
    double step = step_with(aim);
    const double length = longest();
    if (may_relax && length > kFineSize * step) {
      step = std::min(length / (kFineSize - 16), step * std::sqrt(kRelaxedAim / kAim));
    }
    // A transform of half the length where that takes little.
    const double points = length / step + 12;
    const double half = std::bit_ceil(static_cast<std::size_t>(std::min(points, 1e9))) / 2.0;
    if (half >= 1024 && points < kStretch * half) step *= points / (half - 12);
    return std::max(step, smallest_step());
  }

  // Composes in both directions; one that does not seem to decide only where a Renyi bound does not
  // show, in the end, that it certainly decides nothing.
  Bracket compose(double step) {
    Bracket bracket;
    outside_ = false;
    std::vector<const Plan*> deciding;
    for (const auto& plan : plans_) {
      if (plan.decides) deciding.push_back(&plan);
    }
    compose(step, deciding, bracket);
    for (auto& plan : plans_) {
      if (plan.decides || is_dominated(plan, bracket)) continue;
      compose(step, {&plan}, bracket);
      plan.decides = true;
    }
    return bracket;
  }

  void compose(double step, const std::vector<const Plan*>& plans, Bracket& bracket) {
    std::vector<Compositions> running;
    running.reserve(plans.size());
    const double coarse = step * kLowerCoarsening;
    for (const Plan* plan : plans) {
      running.push_back({plan, Composition(window_of(plan->extent, step), step, Bound::upper, bench_),
                         Composition(window_of(plan->extent, coarse), coarse, Bound::lower, bench_)});
    }
    auto& lattice = bench_.lattice;
    auto& cells = bench_.cells;
    auto& loss = bench_.loss;
    lattice.restart(step);
    for (const auto& member : members_) {
      for (const auto& one : running) work_ += one.upper.work() + one.lower.work();
      loss_cells(member.pair, lattice, tail_, cells);
      Direction facing = Direction::remove;
      for (auto& one : running) {
        if (one.plan->direction != facing) exchange(cells);
        facing = one.plan->direction;
        const auto count = static_cast<std::int64_t>(member.count);
        discrete_upper(cells, loss);
        one.upper.add(loss, count);
        discrete_lower(cells, kLowerCoarsening, loss);
        one.lower.add(loss, count);
      }
    }
    for (auto& one : running) take(one, bracket);
  }

  void take(Compositions& compositions, Bracket& bracket) {
    ComposedLoss above = compositions.upper.finish();
    ComposedLoss below = compositions.lower.finish();
    if (question_.delta) {
      double epsilon = above.epsilon(*question_.delta);
      if (!(epsilon >= 0)) epsilon = kInfinity;  // no number bounds nothing
      // At either end of the window the answer is a bound, but a better one lies outside.
      const bool at_end = !std::isfinite(epsilon) ||
                          (epsilon > 0 && epsilon <= compositions.plan->extent.low + 2 * above.step());
      if (epsilon > bracket.upper) outside_ = at_end;
      bracket.upper = std::max(bracket.upper, epsilon);
      bracket.lower = std::max(bracket.lower, below.epsilon(*question_.delta));
    } else {
      bracket.upper = std::max(bracket.upper, above.delta(*question_.epsilon));
      bracket.lower = std::max(bracket.lower, below.delta(*question_.epsilon));
    }
    above.hand_back(bench_);
    below.hand_back(bench_);
  }

  // True if delta in this direction is certainly below what the other one needs.
  bool is_dominated(const Plan& plan, const Bracket& decided) const {
    const double epsilon = question_.delta ? decided.lower : *question_.epsilon;
    const double target = std::log(question_.delta ? *question_.delta : decided.lower);
    return stays_below(members_, plan.direction, plan.saddle.theta, epsilon, target);
  }

  Question question_;
  std::vector<Member> members_;
  std::vector<Plan> plans_;
  double tail_ = 0;
  double uses_ = 0;
  double log_delta_ = 0;
  double margin_ = 1;
  double guide_budget_ = kGuideBudget;
  double work_ = 0;  // lattice points transformed
  bool outside_ = false;
  bool retried_ = false;
  bool inverted_ = false;
  Workbench& bench_;
};

}  // namespace

Bracket pld_bracket(const SplitContent& content, Neighbouring neighbouring, const Question& question) {
  thread_local Workbench bench;
  const Bracket bracket = PldRun(content, neighbouring, question, bench).solve();
  const bool large = !bench.transforms.empty() && bench.transforms.rbegin()->first > kLargestKept;
  if (large) bench = Workbench{};
  return bracket;
}

}  // namespace hyfreedp::accounting
