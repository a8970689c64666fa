#include "harness/analytic/mohapatra_costs.h"

#include <algorithm>
#include <cmath>

#include "harness/accounting/selection.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::analytic {
namespace {

using accounting::epsilon_from_renyi;

// The Renyi divergence of one step at orders 2, 3, ...; composition multiplies it, so one curve
// serves every number of steps.
class StepCurve {
 public:
  explicit StepCurve(const MohapatraRun& run) : conversion_(run.conversion) {
    accounting::Mechanism step;
    step.sample_rate = std::min(1.0, run.lot / run.n);
    step.noise_multiplier = run.sigma;
    for (int order = 2; order <= kHighest; ++order) {
      divergences_.push_back(accounting::renyi_divergence(step, accounting::Neighbouring::add_remove, order));
    }
  }

  double epsilon(double steps, double delta) const {
    double best = std::numeric_limits<double>::infinity();
    for (int order = 2; order <= kHighest; ++order) {
      best = std::min(best, epsilon_from_renyi(steps * divergences_[order - 2], order, delta, conversion_));
    }
    return best;
  }

 private:
  static constexpr int kHighest = 512;
  accounting::Conversion conversion_;
  std::vector<double> divergences_;
};

Result<void> check(const MohapatraRun& run) {
  const auto lot = static_cast<double>(run.lot);
  if (!(run.n >= 1) || !(lot > 0) || lot > run.n) {
    return error("The data must have at least as many records as a lot: n = " + std::to_string(run.n) +
                 ", lot = " + std::to_string(lot) + ".");
  }
  return {};
}

}  // namespace

std::vector<OptionSpec> run_options(std::string help_of_steps) {
  return options_of<MohapatraRun>({{.name = "sigma", .help = "noise multiplier (stated)", .min = 0.1},
                                   {.name = "lot", .help = "lot size L (stated)", .min = 1},
                                   {.name = "steps", .help = std::move(help_of_steps), .min = 1},
                                   ranged_option("delta", 1e-15, 0.5, "delta of the whole search (stated)")});
}

Result<double> moments_epsilon(const MohapatraRun& run, std::int64_t candidates) {
  if (auto ok = check(run); !ok) return ok.error();
  return StepCurve(run).epsilon(static_cast<double>(candidates * run.steps), run.delta);
}

Result<double> liu_talwar_epsilon(const MohapatraRun& run, double mean_candidates) {
  if (auto ok = check(run); !ok) return ok.error();
  const auto delta = accounting::liu_talwar_run_delta(mean_candidates, run.delta);
  if (!delta) return delta.error();
  return 3 * StepCurve(run).epsilon(static_cast<double>(run.steps), *delta) + 3 * std::sqrt(2 * *delta);
}

Result<std::int64_t> moments_candidates(const MohapatraRun& run, double epsilon) {
  if (auto ok = check(run); !ok) return ok.error();
  const StepCurve curve(run);
  std::int64_t low = 0;
  std::int64_t high = 1;
  const auto cost = [&](std::int64_t k) {
    return curve.epsilon(static_cast<double>(k * run.steps), run.delta);
  };
  while (high < 1'000'000 && cost(high) <= epsilon) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (cost(middle) <= epsilon ? low : high) = middle;
  }
  return low;
}

Result<double> records_for(MohapatraRun run, std::int64_t candidates, double epsilon) {
  double low = run.lot;
  double high = 1e8;
  while (high - low > 1) {
    run.n = std::floor((low + high) / 2);
    const auto cost = moments_epsilon(run, candidates);
    if (!cost) return cost.error();
    (*cost <= epsilon ? high : low) = run.n;
  }
  return high;
}

}  // namespace hyfreedp::analytic
