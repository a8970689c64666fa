#include "baselines/prodigy.h"

#include "baselines/own_step.h"

namespace hyfreedp::baselines {

Baseline prodigy() {
  Baseline baseline{.name = "prodigy",
                    .title = "Prodigy",
                    .source = "Mishchenko and Defazio, ICML 2024",
                    .summary = "Prodigy on privatized gradients; nothing is tuned.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_own_step_optimizer(baseline, "prodigy", decoupled_decay());
  return baseline;
}

}  // namespace hyfreedp::baselines
