#include "baselines/template.h"

#include "baselines/support.h"

namespace hyfreedp::baselines {
namespace {

struct FixedRateOptions {
  double lr = 1e-3;
};
BOOST_DESCRIBE_STRUCT(FixedRateOptions, (), (lr))

}  // namespace

Baseline fixed_rate() {
  Baseline baseline{.name = "fixed-rate",
                    .title = "fixed rate",
                    .source = "plain DP training",
                    .summary = "One run at one public learning rate; nothing is tuned.",
                    .options = options_of<FixedRateOptions>(
                        {ranged_option("lr", 1e-12, 1e6, "learning rate, fixed before the data is seen")}),
                    .next = {},
                    .conclude = {}};
  make_single_run(baseline, [](const Cell& cell) -> Result<trial::TrialConfig> {
    const auto noise = plain_noise(cell, cell.epsilon);
    if (!noise) return noise.error();
    return at_rate(cell, *noise, read_options<FixedRateOptions>(cell.options).lr);
  });
  return baseline;
}

}  // namespace hyfreedp::baselines
