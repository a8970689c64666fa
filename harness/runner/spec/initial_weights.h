// What private data the initial weights of a run (options `weights` and `adapter` of its model)
// have seen.
//
// Folders that `hyfreedp run --keep-weights` wrote say so in trial.json; a folder without that file
// counts as public weights. A run's epsilon is that of its own steps. If its start had seen the
// same private data, that cost would not be counted; if its start is not a release, it would be
// published under the run's epsilon. A spec that asks for either is refused when it is read.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::runner {

// The releases of private data that enter the start, each once: [{"dataset", "epsilon" (null: none
// is claimed), "delta"}]. Errors: a folder that does not exist, that a run has staged (kept.json),
// or whose trial.json cannot be read, is watermarked or describes other files.
Result<json::array> private_data_of_start(const json::object& model_options);

// Checks whether runs on the dataset may start from these weights. `is_private`: whether an epsilon
// is claimed for any of the runs.
Result<void> check_start(const json::object& model_options, const std::string& dataset, bool is_private);

}  // namespace hyfreedp::runner
