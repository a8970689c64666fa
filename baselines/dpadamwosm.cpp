#include "baselines/dpadamwosm.h"

#include "baselines/support.h"
#include "harness/mechanism/set_optimizer.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {
namespace {

// Beside the rule's own.
struct MethodOptions {
  double alpha = 1e-3;
  double clipping_threshold = 1;
};
BOOST_DESCRIBE_STRUCT(MethodOptions, (), (alpha, clipping_threshold))

const std::vector<OptionSpec>& rule_options() {
  return optimizers::find_optimizer("dpadamwosm").value()->options;
}

Result<trial::TrialConfig> make(const Cell& cell) {
  // The rule needs one known noise scale sigma C / B, so its clipping is its own, whatever the
  // panel's is.
  const auto options = read_options<MethodOptions>(cell.options);
  auto own = cell;
  own.base.privacy = with_threshold(own.base.privacy, options.clipping_threshold);
  const auto noise = plain_noise(own, cell.epsilon);
  if (!noise) return noise.error();
  auto config = at_rate(own, *noise, options.alpha);
  mechanism::set_optimizer(config, optimizer("dpadamwosm", subset(cell.options, rule_options())));
  return config;
}

}  // namespace

Baseline dpadamwosm() {
  Baseline baseline{.name = "dpadamwosm",
                    .title = "DPAdamWOSM",
                    .source = "Mohapatra et al., AAAI 2022",
                    .summary = "Adam without second moments at its default rate; nothing is tuned.",
                    .has_non_private_arm = false,
                    .optimizer = "dpadamwosm",
                    .options = options_of<MethodOptions>(
                        {ranged_option("alpha", 1e-12, 1e6, "learning rate"),
                         ranged_option("clipping_threshold", 1e-12, 1e6, "C of per-sample clipping")}),
                    .next = {},
                    .conclude = {}};
  for (const auto& option : rule_options()) baseline.options.push_back(option);
  make_single_run(baseline, make);
  return baseline;
}

}  // namespace hyfreedp::baselines
