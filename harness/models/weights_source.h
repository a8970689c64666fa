// Where a model's weights file lies and what it is, without LibTorch.
//
// The option `weights` names a folder with config.json and model.safetensors, or with model.safetensors.index.json and the shards it
// names; `adapter` names a folder as peft writes it, with adapter_config.json and adapter_model.safetensors. A relative path is looked
// for in $HYFREEDP_DATA, then in the working folder. The resolved options carry the folder's checksum, so that the identity of a trial
// covers what is in the files and not only their name.
#pragma once

#include "harness/base/json.h"
#include "harness/models/lora.h"

namespace hyfreedp::models {

// Beside weights that a run of this program wrote: what they are and have seen (harness/runner/weights_metadata.h), or, while it is not
// over, what that will be made of (harness/training/kept_weights.h).
inline constexpr const char* kTrialMetadata = "trial.json";
inline constexpr const char* kStagedMetadata = "kept.json";

// The folder, or an error that says what was needed and where it was looked for.
Result<std::string> locate_weights(const std::string& folder);
// The folder's config.json, which must be an object.
Result<json::object> weights_config(const std::string& folder);
// SHA-256 over "NAME SHA-256 of the file\n" for config.json, every weights file and, where it is, trial.json, in the order of their
// names.
Result<std::string> weights_checksum(const std::string& folder);

// The same of an adapter's folder.
Result<std::string> locate_adapter(const std::string& folder);
Result<Lora> read_adapter_config(const std::string& folder);
Result<std::string> adapter_checksum(const std::string& folder);

}  // namespace hyfreedp::models
