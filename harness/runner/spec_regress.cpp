#include "harness/runner/spec_regress.h"

#include "results/regress.h"

namespace hyfreedp::runner {
namespace {

OptionSpec ratio(const char* name, double otherwise, const char* help) {
  return {.name = name,
          .type = OptionType::real,
          .otherwise = otherwise,
          .help = help,
          .min = 1.0001,
          .max = 100};
}

const std::vector<OptionSpec>& margin_options() {
  static const results::RegressMargins otherwise;
  static const std::vector<OptionSpec> table = {
      {.name = "accuracy",
       .type = OptionType::real,
       .otherwise = otherwise.accuracy,
       .help = "of test accuracy",
       .unit = "percentage points",
       .min = 1e-6,
       .max = 100},
      {.name = "loss",
       .type = OptionType::real,
       .otherwise = otherwise.loss,
       .help = "of test loss",
       .unit = "nats",
       .min = 1e-6,
       .max = 1e6},
      ratio("norm", otherwise.norm, "ratio of gradient and update norms"),
      ratio("noise", otherwise.noise, "ratio of the noise's sd to the plan's"),
      {.name = "epsilon",
       .type = OptionType::real,
       .otherwise = otherwise.epsilon,
       .help = "of the epsilon spent, relative",
       .min = 0,
       .max = 1},
      ratio("speed", otherwise.speed, "ratio of times, interleaved"),
      ratio("memory", otherwise.memory, "ratio of peak memory")};
  return table;
}

const std::vector<OptionSpec>& regress_options() {
  static const results::RegressOptions otherwise;
  static const std::vector<OptionSpec> table = {
      {.name = "false_alarms_per_night",
       .type = OptionType::real,
       .otherwise = otherwise.false_alarms_per_night,
       .help = "probability that a night of no change raises an alarm",
       .min = 1e-6,
       .max = 0.5},
      {.name = "control",
       .type = OptionType::choice,
       .otherwise = "holm",
       .help = "of false alarms over all tests of a night",
       .choices = {"holm", "fdr"}},
      {.name = "equivalence_level",
       .type = OptionType::real,
       .otherwise = otherwise.equivalence_level,
       .help = "probability that what moved beyond its margin is called the same",
       .min = 1e-6,
       .max = 0.5},
      {.name = "power",
       .type = OptionType::real,
       .otherwise = otherwise.power,
       .help = "at which the seeds needed are counted",
       .min = 0.01,
       .max = 0.999},
      {.name = "hashes",
       .type = OptionType::boolean,
       .otherwise = true,
       .help = "compare bits where they can be equal"}};
  return table;
}

}  // namespace

Result<json::object> read_regress(const Entry& regress) {
  if (auto checked = regress.check_keys(nullptr); !checked) return checked.error();
  const Layers layers({regress});
  auto options = options_from(regress_options(), layers, {"margin"});
  if (!options) return options.error();
  const auto margin = options_from(margin_options(), layers.below("margin"));
  if (!margin) return margin.error();
  (*options)["margin"] = *margin;
  return options;
}

}  // namespace hyfreedp::runner
