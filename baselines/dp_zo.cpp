#include "baselines/dp_zo.h"

#include "baselines/tuned_grid.h"

namespace hyfreedp::baselines {

Baseline dp_zo() {
  Baseline baseline{.name = "dp-zo",
                    .title = "DP-ZO (tuned)",
                    .source = {},
                    .summary =
                        "Steps along random directions, as long as privatized changes of losses say, without "
                        "gradients; the tuning is charged.",
                    .options = {},
                    .next = {},
                    .conclude = {}};
  make_tuned_grid(baseline, {.optimizer = "dp-zo",
                             .rates = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2},
                             .hidden = {"momentum", "nesterov", "dampening", "free_step"},
                             .thresholds = {1e-3, 1e-2, 1e-1},
                             .clips = "clipping thresholds C of a record's change of loss"});
  baseline.source = "Tang et al. 2024, arXiv:2401.04343, algorithm 1";
  return baseline;
}

}  // namespace hyfreedp::baselines
