// What a spec needs that may not be on this machine.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

struct MissingData {
  std::string dataset;
  std::string why;  // whole sentences: where it was looked for and how to get it
};

// Data sets that the spec names and that are not found, each once. (Weights are looked for when the
// spec is read.)
std::vector<MissingData> missing_data(const runner::Spec& spec);

}  // namespace hyfreedp::cli
