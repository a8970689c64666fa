#include "baselines/hyfreedp.h"

#include "baselines/private_probe.h"

namespace hyfreedp::baselines {

Baseline hyfreedp() {
  Baseline baseline{.name = "hyfreedp",
                    .title = "HyFreeDP",
                    .source = "Liu and Bu, ICLR 2025, algorithms 1 and 2",
                    .summary = "Learning rate and loss bound from privatized losses; one run, one budget.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_probing_controller(baseline, "hyfreedp",
                         {"folded", "separate-batch", "paper", "paper-appendix", "laplace"});
  return baseline;
}

}  // namespace hyfreedp::baselines
