#include "baselines/own_step.h"

#include "baselines/support.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {

void run_own_step_optimizer(Baseline& baseline, const std::string& optimizer_name) {
  auto options = optimizers::find_optimizer(optimizer_name).value()->options;
  options = with_default(std::move(options), "weight_decay", 0.01);
  options = with_default(std::move(options), "decouple", true);
  baseline.options = options;
  make_single_run(baseline, [optimizer_name](const Cell& cell) -> Result<trial::TrialConfig> {
    const auto noise = plain_noise(cell, cell.epsilon);
    if (!noise) return noise.error();
    auto config = at_rate(cell, *noise, 1.0);
    config.optimizer = optimizer(optimizer_name, cell.options);
    return config;
  });
}

}  // namespace hyfreedp::baselines
