#include "baselines/dpadam.h"

#include "baselines/tuned_grid.h"

namespace hyfreedp::baselines {

Baseline dpadam() {
  Baseline baseline{
      .name = "dpadam",
      .title = "DPAdam (tuned)",
      .source = {},
      .summary = "Adam at its default rate on a grid of clipping thresholds; the tuning is charged.",
      .options = {},
      .next = {},
      .conclude = {}};
  make_tuned_grid(baseline, {.optimizer = "adam", .rates = {1e-3}, .tuning = Tuning::composed});
  return baseline;
}

}  // namespace hyfreedp::baselines
