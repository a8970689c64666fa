#include "harness/runner/spec/spec_regress.h"

#include "results/regress/regress.h"

namespace hyfreedp::runner {
namespace {

OptionSpec ratio(const char* name, double default_value, const char* help) {
  return {.name = name,
          .type = OptionType::real,
          .default_value = default_value,
          .help = help,
          .min = 1.0001,
          .max = 100};
}

const std::vector<OptionSpec>& margin_options() {
  static const results::RegressMargins defaults;
  static const std::vector<OptionSpec> table = {
      {.name = "accuracy",
       .type = OptionType::real,
       .default_value = defaults.accuracy,
       .help = "of test accuracy",
       .unit = "percentage points",
       .min = 1e-6,
       .max = 100},
      {.name = "loss",
       .type = OptionType::real,
       .default_value = defaults.loss,
       .help = "of test loss",
       .unit = "nats",
       .min = 1e-6,
       .max = 1e6},
      ratio("norm", defaults.norm, "ratio of gradient and update norms"),
      ratio("noise", defaults.noise, "ratio of the noise's sd to the plan's"),
      {.name = "epsilon",
       .type = OptionType::real,
       .default_value = defaults.epsilon,
       .help = "of the epsilon spent, relative",
       .min = 0,
       .max = 1},
      ratio("speed", defaults.speed, "ratio of times, interleaved"),
      ratio("memory", defaults.memory, "ratio of peak memory")};
  return table;
}

const std::vector<OptionSpec>& regress_options() {
  static const results::RegressOptions defaults;
  static const std::vector<OptionSpec> table = {
      {.name = "false_alarms_per_night",
       .type = OptionType::real,
       .default_value = defaults.false_alarms_per_night,
       .help = "probability that a night of no change raises an alarm",
       .min = 1e-6,
       .max = 0.5},
      {.name = "control",
       .type = OptionType::choice,
       .default_value = "holm",
       .help = "of false alarms over all tests of a night",
       .choices = {"holm", "fdr"}},
      {.name = "equivalence_level",
       .type = OptionType::real,
       .default_value = defaults.equivalence_level,
       .help = "probability that what moved beyond its margin is called the same",
       .min = 1e-6,
       .max = 0.5},
      {.name = "power",
       .type = OptionType::real,
       .default_value = defaults.power,
       .help = "at which the seeds needed are counted",
       .min = 0.01,
       .max = 0.999},
      {.name = "hashes",
       .type = OptionType::boolean,
       .default_value = true,
       .help = "compare bits where they can be equal"}};
  return table;
}

}  // namespace

std::optional<json::object> read_regress(const Entry& regress, Problems& problems) {
  const Layers layers({regress});
  auto options = options_from(regress_options(), layers, problems, {"margin"});
  const auto margin = options_from(margin_options(), layers.below("margin"), problems);
  if (!options || !margin) return std::nullopt;
  (*options)["margin"] = *margin;
  return options;
}

}  // namespace hyfreedp::runner
