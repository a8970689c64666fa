// From a model's options to the sizes of its network: a size by name, explicit sizes, or the config.json of a weights folder.
// Without LibTorch.
#pragma once

#include "harness/models/blueprint.h"

namespace hyfreedp::models {

// The shape that the options of model `name` ask for on such data. `name` is a registered model.
Result<Blueprint::Shape> shape_of(const std::string& name, const json::object& options,
                                  const ModelInput& input);
// The adapter, where `trainable` is lora or lora-head.
Result<std::optional<Lora>> lora_of(const std::string& name, const json::object& options);

// Fills in what only the machine knows: the checksums of the weights' and the adapter's folder. A checksum that the options give
// already must be that of the folder. To be called once, when a spec is read.
Result<json::object> complete_options(json::object options);

}  // namespace hyfreedp::models
