// Models by name: what a trial's `model` entry builds. Names and options: facts.h; sizes and what trains: blueprint.h.
// Initial weights depend on `key` only, or come from the weights folder that the options name.
#pragma once

#include "harness/base/json.h"
#include "harness/models/facts.h"
#include "harness/models/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

// `options` resolved against facts.h. Features [B, features] of any kind, images too; ids [B, length] of sequences.
Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options);

}  // namespace hyfreedp::models
