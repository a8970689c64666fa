#include "baselines/dog.h"

#include "baselines/own_step.h"

namespace hyfreedp::baselines {

Baseline dog() {
  Baseline baseline{.name = "dog",
                    .title = "DoG",
                    .source = "Ivgi, Hinder and Carmon, ICML 2023",
                    .summary = "Distance over gradients on privatized gradients; nothing is tuned.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_own_step_optimizer(baseline, "dog", {{"average", true}});
  return baseline;
}

}  // namespace hyfreedp::baselines
