#include "baselines/dpsgd.h"

#include "baselines/tuned_grid.h"

namespace hyfreedp::baselines {

Baseline dpsgd() {
  Baseline baseline{
      .name = "dpsgd",
      .title = "DPSGD (tuned)",
      .source = {},
      .summary = "SGD on a grid of learning rate and clipping threshold; the tuning is charged.",
      .options = {},
      .next = {},
      .conclude = {}};
  make_tuned_grid(baseline, {.optimizer = "sgd",
                             .rates = mohapatra_rates(),
                             .hidden = {"momentum", "nesterov", "dampening", "free_step"}});
  return baseline;
}

}  // namespace hyfreedp::baselines
