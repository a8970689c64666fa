// Weights in and out, by parameter name.
//
//   a file       NAME.safetensors
//   a folder     model.safetensors, or model.safetensors.index.json and the shards that its "weight_map" names (none of them
//                may lie outside the folder)
// Files are memory-mapped; values are copied once, converted to the network's type (bf16 and f16 exactly).
#pragma once

#include <functional>
#include <map>

#include "harness/models/builder.h"
#include "harness/models/network.h"

namespace hyfreedp::models {

using NamedTensors = std::map<std::string, torch::Tensor>;

Result<NamedTensors> read_weights(const std::string& path);

struct LoadRules {
  // Put before a file's names where they lack it: GPT-2's files say "wte.weight" for "transformer.wte.weight".
  std::string prefix = {};
  // Network parameters that may be absent and keep their values (a new head, a new adapter).
  std::function<bool(const std::string&)> may_be_absent = {};
  // Entries of the file that the network has no use for (stored masks, another head).
  std::function<bool(const std::string&)> may_be_left = {};
};
// All or nothing: one error lists every missing, unexpected and misshaped tensor by name.
Result<void> load_weights(Network& network, const NamedTensors& weights, const LoadRules& rules = {});

// The network's tensors of which `wanted` is true, trainable and frozen.
NamedTensors named_tensors(const Network& network, const std::function<bool(const std::string&)>& wanted);
// Atomic: a reader sees the old file or the new one.
Result<void> write_safetensors(const std::string& path, const NamedTensors& tensors);

// peft's adapter folder: adapter_config.json (read_adapter_config in weights_source.h) and adapter_model.safetensors.
Result<void> load_adapter(Network& network, const std::string& folder);
// `more`: members of adapter_config.json beside, or instead of, what follows from `lora`.
Result<void> write_adapter(const Network& network, const Lora& lora, const std::string& folder,
                           const json::object& more = {});

}  // namespace hyfreedp::models
