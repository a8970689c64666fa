// The files that a model's options name, without LibTorch: the folder of `weights`, that of
// `adapter`, and `program` (weights_source.h).
#pragma once

#include <optional>

#include "harness/models/graph/lora.h"
#include "harness/models/networks/description.h"

namespace hyfreedp::models {

// The config.json of the weights folder. Of weights of the catalogue that are not here yet it says
// what the network is called.
Result<FolderConfig> folder_config(const json::object& options);
// The adapter if `trainable` is lora or lora-head, else nothing.
Result<std::optional<Lora>> lora_of(const Facts& facts, const json::object& options);

// Adds the checksums of the folders of weights and adapter, which only this machine knows. An error
// if the options already give another checksum. Weights of the catalogue that are not here yet
// remain without one: the spec can be planned, and a run says how to get them. Called once, when a
// spec is read.
Result<json::object> complete_options(json::object options);

}  // namespace hyfreedp::models
