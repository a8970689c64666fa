// Builds a model by its name, as a trial's `model` entry gives it. Names and options:
// networks/registry.h; what is trainable: facts/blueprint.h. Initial weights depend on `key` alone,
// or are read from the weights folder that the options name.
#pragma once

#include <optional>

#include "harness/base/json.h"
#include "harness/models/facts/facts.h"
#include "harness/models/layers/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

// `options` were resolved against the facts. The network's inputs are features [B, features] of any
// kind, images too, or ids [B, length] of sequences. Errors: sizes that do not fit the data, and
// weights that are missing or do not fit. `compute`: the compute type that the network begins with,
// in which its frozen weights are stored; absent: the type of `tensor_options`.
Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options,
                           std::optional<torch::ScalarType> compute = {});

}  // namespace hyfreedp::models
