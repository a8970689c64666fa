// What the weights that a run begins with (options `weights` and `adapter` of its model) have seen of private data.
//
// Folders that `hyfreedp run --keep-weights` wrote say it in trial.json; a folder without one is taken for public weights. A run's
// epsilon is that of its own steps, so a start that saw the same private data would be spent without being counted, and one that
// is no release at all would come out under the run's epsilon: a spec that asks for either is refused when it is read.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::runner {

// [{"dataset", "epsilon" (null: none is claimed), "delta"}]: the releases of private data that enter the start, each once.
// An error: a folder that is not there, that a run has staged (kept.json), whose trial.json cannot be read, is watermarked or speaks
// of other files.
Result<json::array> private_data_of_start(const json::object& model_options);

// Whether runs on the dataset may begin with it. `is_private`: whether an epsilon is claimed for any of them.
Result<void> check_start(const json::object& model_options, const std::string& dataset, bool is_private);

}  // namespace hyfreedp::runner
