// A trained network as the folder that Hugging Face's, timm's and peft's loaders and this program's own read again.
//
//   config.json, model.safetensors                         the network without adapters (model_config.h); of a language model with
//                                                          the special tokens of the folder that it began with, without one
//                                                          GPT-2's for GPT-2's vocabulary and else none
//   adapter_config.json, adapter_model.safetensors         its adapters, where it has any; the network beside them is then left
//                                                          out where it is just what the option `weights` names
#pragma once

#include "harness/models/blueprint.h"
#include "harness/models/network.h"

namespace hyfreedp::models {

struct ModelFolder {
  bool has_adapter = false;
  bool has_network = false;
};

// `plan` and `options` are those that the network was made from. Files that the folder has already are replaced.
Result<ModelFolder> write_model_folder(const Network& network, const Blueprint& plan,
                                       const json::object& options, const std::string& folder);

}  // namespace hyfreedp::models
