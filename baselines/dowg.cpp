#include "baselines/dowg.h"

#include "baselines/own_step.h"

namespace hyfreedp::baselines {

Baseline dowg() {
  Baseline baseline{.name = "dowg",
                    .title = "DoWG",
                    .source = "Khaled, Mishchenko and Jin, NeurIPS 2023",
                    .summary = "Distance over weighted gradients on privatized gradients; nothing is tuned.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_own_step_optimizer(baseline, "dowg", {});
  return baseline;
}

}  // namespace hyfreedp::baselines
