#include "baselines/dpmomentum.h"

#include "baselines/tuned_grid.h"

namespace hyfreedp::baselines {

Baseline dpmomentum() {
  Baseline baseline{
      .name = "dpmomentum",
      .title = "DPMomentum (tuned)",
      .source = {},
      .summary =
          "SGD with momentum on a grid of learning rate and clipping threshold; the tuning is charged.",
      .options = {},
      .next = {},
      .conclude = {}};
  make_tuned_grid(baseline, {.optimizer = "sgd",
                             .rates = mohapatra_rates(),
                             .momenta = {0.9},
                             .hidden = {"momentum", "dampening"}});
  return baseline;
}

}  // namespace hyfreedp::baselines
