// What a spec needs that may not be on this machine.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

struct Missing {
  std::string what;        // the dataset's name, or the weights as the spec names them
  std::string why;         // whole sentences: where it was looked for and how to get it
  bool fetchable = false;  // by this program
};

// What the spec names and is not found, each once: datasets, a user's files, weights.
std::vector<Missing> missing_data(const runner::Spec& spec);

// Opens and reads all data that the spec's runs would read. The error names every file that is
// broken or not here, a line each.
Result<void> check_data(const runner::Spec& spec);

}  // namespace hyfreedp::cli
