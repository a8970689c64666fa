#include "baselines/template.h"

#include "baselines/support.h"

namespace hyfreedp::baselines {

Baseline fixed_rate() {
  Baseline baseline{
      .name = "fixed-rate",
      .title = "fixed rate",
      .source = "plain DP training",
      .summary = "One run at one public learning rate; nothing is tuned.",
      .options = {real_option("lr", 1e-3, 1e-12, 1e6, "learning rate, fixed before the data is seen")},
      .next = {},
      .conclude = {}};
  make_single_run(baseline, [](const Cell& cell) -> Result<trial::TrialConfig> {
    const auto noise = plain_noise(cell, cell.epsilon);
    if (!noise) return noise.error();
    return at_rate(cell, *noise, double_or(cell.options, "lr", 1e-3));
  });
  return baseline;
}

}  // namespace hyfreedp::baselines
