#include "harness/cli/create/new_spec.h"

#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;

// @ stands for the name.
constexpr std::string_view kText =
    R"(# Begun by `hyfreedp new spec`. It runs as it stands: hyfreedp run @.yaml
# Change what is marked with <-; experiments/README.md has all that a spec may say.
name: @                                     # of out/@, where table, plots and report are written
title: @                                    # <- what a person reads above the table

dataset: {name: synthetic, train: 2000}     # <- hyfreedp list datasets
model: linear                               # <- hyfreedp list models
seeds: [0, 1, 2]                            # <- one study of each cell for each; a mean needs several
# seeds: {until: paired interval of prodigy - hyfreedp-plus excludes 0, from: 3, to: 20}   # or as many as it takes
epsilon: [1, 3, inf]                        # <- columns; inf: the non-private arm, of the methods that have one
# noise_multiplier: [2, 4]                  #    instead of epsilon, which then follows
# delta: 1e-5                               #    default: N^-1.1 of the training split

train:                                      #    hyfreedp list training
  sample_rate: 0.05                         # <- q: the probability that an example is in a batch
  steps: 100                                # <- T
  optimizer: adamw                          #    hyfreedp list optimizers

rows:                                       # <- hyfreedp list methods
  - prodigy                                 #    a method with its defaults
  - hyfreedp-plus
  - {method: nondp-gs, options: {grid: [1e-3, 1e-2, 1e-1]}}   # an oracle: its search is not charged

evaluate: {every: 25}                       #    test accuracy each that many steps
# noise_seed: @-1                           #    reproducible noise for tests, flagged: not a private release
)";

}  // namespace

std::string spec_text(const std::string& name) {
  std::string text;
  for (const char c : kText) text += c == '@' ? name : std::string(1, c);
  return text;
}

std::vector<std::string> what_to_change() {
  return {"title     what a person reads above the table",
          "dataset   hyfreedp list datasets",
          "model     hyfreedp list models",
          "seeds     a mean needs several",
          "epsilon   the table's columns",
          "train     sample_rate and steps; all else: hyfreedp list training",
          "rows      hyfreedp list methods"};
}

Result<std::string> write_spec(const std::string& folder, const std::string& name) {
  if (!runner::is_identifier(name)) {
    return error(fmt::format(
        "'{}' is no name of a spec: letters, digits, '-', '_' and '.', not beginning with '.'.", name));
  }
  if (name.size() > runner::kLongestName) {
    return error(
        fmt::format("the name has {} characters, and a spec's may have {}, since files are named by it.",
                    name.size(), runner::kLongestName));
  }
  if (runner::is_taken_in_out_folder(name)) {
    return error(fmt::format("a spec cannot be named '{}': that folder of the output is taken.", name));
  }
  const auto path = (fs::path(folder) / (name + ".yaml")).lexically_normal().string();
  if (fs::exists(path)) return error(fmt::format("{} is there already; choose another name.", path));
  if (auto written = write_file_atomically(path, spec_text(name)); !written) return written.error();
  return path;
}

}  // namespace hyfreedp::cli
