#include "harness/runner/spec/spec_regress.h"

namespace hyfreedp::runner {
namespace {

const std::vector<OptionSpec>& margin_options() {
  constexpr double kLeastRatio = 1.0001, kMostRatio = 100;
  static const auto table = options_of<spec::Margins>(
      {{.name = "accuracy", .help = "of test accuracy", .unit = "percentage points", .min = 1e-6, .max = 100},
       {.name = "loss", .help = "of test loss", .unit = "nats", .min = 1e-6, .max = 1e6},
       {.name = "norm", .help = "ratio of gradient and update norms", .min = kLeastRatio, .max = kMostRatio},
       {.name = "noise",
        .help = "ratio of the noise's sd to the plan's",
        .min = kLeastRatio,
        .max = kMostRatio},
       {.name = "epsilon", .help = "of the epsilon spent, relative", .min = 0, .max = 1},
       {.name = "speed", .help = "ratio of times, interleaved", .min = kLeastRatio, .max = kMostRatio},
       {.name = "memory", .help = "ratio of peak memory", .min = kLeastRatio, .max = kMostRatio}});
  return table;
}

const std::vector<OptionSpec>& regress_options() {
  static const auto table = options_of<spec::Regress>(
      {{.name = "false_alarms_per_night",
        .help = "probability that a night of no change raises an alarm",
        .min = 1e-6,
        .max = 0.5},
       {.name = "control", .help = "of false alarms over all tests of a night"},
       {.name = "equivalence_level",
        .help = "probability that what moved beyond its margin is called the same",
        .min = 1e-6,
        .max = 0.5},
       {.name = "power", .help = "at which the seeds needed are counted", .min = 0.01, .max = 0.999},
       {.name = "hashes", .help = "compare bits where they can be equal"}});
  return table;
}

}  // namespace

std::optional<spec::Regress> read_regress(const Entry& regress, Problems& problems) {
  const Layers layers({regress});
  auto read = read_options<spec::Regress>(regress_options(), layers, problems, {"margin"});
  const auto margin = read_options<spec::Margins>(margin_options(), layers.below("margin"), problems);
  if (!read || !margin) return std::nullopt;
  read->margin = *margin;
  return read;
}

}  // namespace hyfreedp::runner
