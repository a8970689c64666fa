// Reads and writes weights by parameter name.
//
//   a file       safetensors
//   a folder     what harness/models/files/weights_file.h reads of it
// Files are memory-mapped. Values are copied once and converted to the network's type
// (bf16 and f16 exactly).
#pragma once

#include "harness/models/facts/weights_fit.h"
#include "harness/models/layers/network.h"
#include "harness/models/weights/safetensors.h"

namespace hyfreedp::models {

Result<NamedTensors> read_weights(const std::string& path);
TensorShapes shapes_of(const NamedTensors& tensors);

// Loads all tensors or none, as match_weights() has it. An error too where a file has a tied
// embedding twice with different values.
Result<void> load_weights(Network& network, const NamedTensors& weights, const LoadRules& rules = {});

// The network's tensors, trainable and frozen, for which `wanted` is true.
NamedTensors named_tensors(const Network& network, const std::function<bool(const std::string&)>& wanted);
// Loads peft's adapter folder: adapter_config.json (read_adapter_config in weights_source.h) and
// adapter_model.safetensors.
Result<void> load_adapter(Network& network, const std::string& folder);
// Writes one. `more` has members of adapter_config.json that are added to, or replace, those that
// follow from `lora`.
Result<void> write_adapter(const Network& network, const Lora& lora, const std::string& folder,
                           const json::object& more = {});

}  // namespace hyfreedp::models
