#include "baselines/adadp.h"

#include "baselines/tuned_grid.h"

namespace hyfreedp::baselines {

Baseline adadp() {
  Baseline baseline{
      .name = "adadp",
      .title = "ADADP (tuned)",
      .source = {},
      .summary =
          "ADADP, which finds its own step size, on a grid of clipping thresholds; the tuning is charged.",
      .options = {},
      .next = {},
      .conclude = {}};
  make_tuned_grid(baseline, {.optimizer = "adadp", .rates = {}, .tuning = Tuning::composed});
  return baseline;
}

}  // namespace hyfreedp::baselines
