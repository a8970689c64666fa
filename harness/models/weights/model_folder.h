// Writes a trained network as a folder that the loaders of Hugging Face, timm and peft and of this
// program read.
//
//   config.json, model.safetensors
//       The network without adapters (description.h). A language model's config names the special
//       tokens of the folder that it was initialised from; without such a folder, GPT-2's for
//       GPT-2's vocabulary, and none for others.
//   adapter_config.json, adapter_model.safetensors
//       The network's adapters, if it has any. The network itself is then left out if it is exactly
//       what the option `weights` names.
#pragma once

#include "harness/models/facts/blueprint.h"
#include "harness/models/layers/network.h"

namespace hyfreedp::models {

struct ModelFolder {
  bool has_adapter = false;
  bool has_network = false;
};

// `plan` and `options` are those that the network was made from. Existing files of these names in
// the folder are replaced.
Result<ModelFolder> write_model_folder(const Network& network, const Blueprint& plan,
                                       const json::object& options, const std::string& folder);

}  // namespace hyfreedp::models
