// From a model's options to the sizes of its network, without LibTorch. The options give a size by
// name, explicit sizes, or a weights folder with a config.json.
#pragma once

#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {

// The shape that the options of the registered model `name` describe on such data. Errors name the
// option that does not fit.
Result<Blueprint::Shape> shape_of(const std::string& name, const json::object& options,
                                  const ModelInput& input);
// The adapter if `trainable` is lora or lora-head, else nothing.
Result<std::optional<Lora>> lora_of(const std::string& name, const json::object& options);

// Adds the checksums of the folders of weights and adapter, which only this machine knows. An error
// if the options already give another checksum. Weights of the catalogue that are not here yet
// remain without one: the spec can be planned, and a run says how to get them. Called once, when a
// spec is read.
Result<json::object> complete_options(json::object options);

}  // namespace hyfreedp::models
