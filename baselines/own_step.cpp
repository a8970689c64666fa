#include "baselines/own_step.h"

#include "baselines/support.h"
#include "harness/mechanism/set_optimizer.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {

json::object decoupled_decay() { return {{"weight_decay", 0.01}, {"decouple", true}}; }

void run_own_step_optimizer(Baseline& baseline, const std::string& optimizer_name,
                            const json::object& defaults) {
  const auto& facts = *optimizers::find_optimizer(optimizer_name).value();
  if (facts.check != nullptr) baseline.check = facts.check;
  auto options = facts.options;
  for (const auto& given : defaults)
    options = with_default(std::move(options), std::string(given.key()), given.value());
  baseline.options = std::move(options);
  baseline.optimizer = optimizer_name;
  make_single_run(baseline, [optimizer_name](const Cell& cell) -> Result<trial::TrialConfig> {
    const auto noise = plain_noise(cell, cell.epsilon);
    if (!noise) return noise.error();
    auto config = at_rate(cell, *noise, 1.0);
    mechanism::set_optimizer(config, optimizer(optimizer_name, cell.options));
    return config;
  });
}

}  // namespace hyfreedp::baselines
