// What private data have been seen by the weights that enter a run: the initial ones (options
// `weights` and `adapter` of its model), and those of the frozen network that makes its features
// (option `weights` of its dataset).
//
// Folders that `hyfreedp run --keep-weights` wrote say so in trial.json; a folder without that file
// counts as public weights. A run's epsilon is that of its own steps. If its start had seen the
// same private data, that cost would not be counted; if its start is not a release, it would be
// published under the run's epsilon. A spec that asks for either is refused when it is read.
#pragma once

#include <string>

#include "datasets/same_data.h"
#include "harness/base/json.h"

namespace hyfreedp::runner {

// The releases of private data that enter the start, by the options of a model or dataset, each
// once: [{"dataset", "marks" (absent: none), "epsilon" (null: none is claimed), "delta"}]. Errors:
// a folder that does not exist, that a run has staged (kept.json), or whose trial.json cannot be
// read, is watermarked or describes other files.
Result<json::array> private_data_of_start(const json::object& options);

// The members "dataset" and "marks" of a release.
json::object named_data(const datasets::DataIdentity& data);

// Checks whether runs on the data may start from the weights of these options: not where they have
// seen the same data (datasets::is_same_data). `is_private`: whether an epsilon is claimed for any
// of the runs.
Result<void> check_start(const json::object& options, const datasets::DataIdentity& data, bool is_private);

}  // namespace hyfreedp::runner
