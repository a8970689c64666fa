// What the weights that a run begins with (options `weights` and `adapter` of its model) have seen of private data.
//
// Folders that `hyfreedp run --keep-weights` wrote say it in trial.json; a folder without one is taken for public weights. A run's
// epsilon is that of its own steps, so a start that saw the same private data would be spent without being counted, and one that
// is no release at all would come out under the run's epsilon: both are refused before anything is planned.
#pragma once

#include <set>
#include <string>

#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

// Names of the private datasets whose examples enter the start. An error: a folder that is not there, a trial.json that cannot be
// read or is watermarked.
Result<std::set<std::string>> private_data_of_start(const json::object& model_options);

// Of folders that are here: a cell's file is planned again where they are not.
Result<void> check_start(const trial::TrialConfig& config);

}  // namespace hyfreedp::runner
