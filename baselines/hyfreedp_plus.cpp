#include "baselines/hyfreedp_plus.h"

#include "baselines/private_probe.h"

namespace hyfreedp::baselines {

Baseline hyfreedp_plus() {
  Baseline baseline{.name = "hyfreedp-plus",
                    .title = "HyFreeDP+ (ours)",
                    .source = "this project, after Liu and Bu, ICLR 2025",
                    .summary = "HyFreeDP with a probe radius of its own, on a separate probe batch.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  run_probing_controller(baseline, "hyfreedp-plus", {"separate-batch", "folded"});
  return baseline;
}

}  // namespace hyfreedp::baselines
