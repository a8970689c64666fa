// Writes the weights of a finished run into a folder, for `hyfreedp run --keep-weights`.
//
//   FOLDER/   the files of harness/models/weights/model_folder.h, and
//     features.safetensors   "mean" [p], float64: the mean that the run subtracted from all
//                            features, if it did
//     kept.json              {"values", "attempt", "adapter", "network", "centred"}: what the
//                            coordinator needs for trial.json
// The values are those at which the run was evaluated: its average, if it has one. The folder
// appears as a whole or not at all, and replaces one of its name. It has mode 0700 and makes no
// statement about privacy; the coordinator adds one, because it knows the run's price.
#pragma once

#include <cstdint>
#include <string>
#include <torch/types.h>

#include "harness/models/graph/model_input.h"
#include "harness/models/layers/network.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

struct FinalWeights {
  const trial::TrialConfig& config;
  const models::ModelInput& input;
  const models::Network& network;
  std::string values;  // in words: "of the last step"
  std::int64_t attempt = 0;
  torch::Tensor feature_mean = {};  // undefined: no mean was subtracted
};

// Writes the weights to `folder`. Returns an error if that fails.
Result<void> keep_weights(const FinalWeights& final, const std::string& folder);

}  // namespace hyfreedp::training
