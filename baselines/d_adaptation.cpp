#include "baselines/d_adaptation.h"

#include "baselines/own_step.h"

namespace hyfreedp::baselines {

Baseline d_adaptation() {
  Baseline baseline{.name = "d-adaptation",
                    .title = "D-Adaptation",
                    .source = "Defazio and Mishchenko, ICML 2023",
                    .summary = "D-Adapt Adam on privatized gradients; nothing is tuned.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_own_step_optimizer(baseline, "d-adapt-adam", decoupled_decay());
  return baseline;
}

}  // namespace hyfreedp::baselines
