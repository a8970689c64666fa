#include "baselines/free_slope.h"

#include "baselines/support.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {

Baseline free_slope() {
  const auto& facts = *optimizers::find_controller("free-slope").value();
  Baseline baseline{.name = "free-slope",
                    .title = "Free slope (ours)",
                    .source = "this project",
                    .summary =
                        "One run whose rates, a group of parameters each, follow the slopes of its "
                        "released gradients; nothing is paid for them.",
                    .options = facts.options,
                    .next = {},
                    .conclude = {}};
  make_single_run(baseline, [&facts](const Cell& cell) -> Result<trial::TrialConfig> {
    const auto noise = plain_noise(cell, cell.epsilon);
    if (!noise) return noise.error();
    auto config = cell.base;
    config.privacy.gradient_noise = *noise;
    config.controller = controller(facts.name, cell.options);
    return config;
  });
  return baseline;
}

}  // namespace hyfreedp::baselines
