// Reads and writes weights by parameter name.
//
//   a file       safetensors
//   a folder     the first of these that is there: model.safetensors;
//                model.safetensors.index.json and the shards that its "weight_map" names, where a
//                shard outside the folder is refused; pytorch_model.bin (state_dict.h);
//                weights.pkl, pickled NumPy arrays (numpy_pickle.h)
// Files are memory-mapped. Values are copied once and converted to the network's type
// (bf16 and f16 exactly).
#pragma once

#include <functional>

#include "harness/models/networks/builder.h"
#include "harness/models/networks/network.h"
#include "harness/models/weights/safetensors.h"

namespace hyfreedp::models {

Result<NamedTensors> read_weights(const std::string& path);

struct LoadRules {
  // Prepended to a file's names that lack it: GPT-2's files say "wte.weight" for
  // "transformer.wte.weight".
  std::string prefix = {};
  // Whether a network parameter may be absent from the file, and keeps its value
  // (a new head, a new adapter).
  std::function<bool(const std::string&)> may_be_absent = {};
  // Whether an entry of the file may be ignored (stored masks, another head).
  std::function<bool(const std::string&)> may_be_left = {};
};
// Loads all tensors or none: one error lists every missing, unexpected and misshaped tensor by
// name.
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
