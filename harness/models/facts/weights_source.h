// Finds the files of a model's weights and identifies them by checksum, without LibTorch.
//
// The option `weights` names a folder with config.json and the first of these that is there:
// model.safetensors; model.safetensors.index.json and the shards that it names; pytorch_model.bin,
// a PyTorch state dict; weights.pkl, pickled NumPy arrays. The option `adapter` names a folder as
// peft writes it, with adapter_config.json and adapter_model.safetensors. A relative path is looked
// for in $HYFREEDP_DATA, then in the working folder, and a name without folders last among the
// weights that `hyfreedp data fetch` brought. The resolved options contain the folder's
// checksum, so that a trial's identity covers the contents of the files and not only their name.
#pragma once

#include "harness/base/json.h"
#include "harness/models/graph/lora.h"

namespace hyfreedp::models {

// Metadata beside weights that a run of this program wrote: what they are and what data they have
// seen (harness/runner/execute/weights_metadata.h); and its draft while the run is not over
// (harness/training/kept_weights.h).
inline constexpr const char* kTrialMetadata = "trial.json";
// The metadata of weights that a run kept: without the file that it names nobody knows which
// private examples they have seen.
inline constexpr const char* kKeptMark = "hyfreedp";
inline constexpr const char* kKeptNote =
    "kept by a run; trial.json beside it says what the weights have seen";
// Beside weights that a run kept: the mean that it took off every feature.
inline constexpr const char* kFeatureMean = "features.safetensors";
inline constexpr const char* kStagedMetadata = "kept.json";

// The option `weights` of a model or dataset; empty where it has none.
std::string weights_named(const json::object& options);
// The folder's path. The error says what was needed and where it was looked for.
Result<std::string> locate_weights(const std::string& folder);
// The folder of fetched weights, cache_folder()/weights/NAME.
std::string fetched_weights_folder(const std::string& name);
// The folder's config.json. An error if it is not an object.
Result<json::object> weights_config(const std::string& folder);
// SHA-256 over the lines "NAME SHA-256 of the file\n" for config.json, every weights file and, if
// it exists, trial.json, sorted by name.
Result<std::string> weights_checksum(const std::string& folder);

// The path of a file of torch.jit.save, looked for in the same places. An error where it is in
// none.
Result<std::string> locate_program(const std::string& file);
Result<std::string> program_checksum(const std::string& file);

// The same for an adapter's folder.
Result<std::string> locate_adapter(const std::string& folder);
Result<Lora> read_adapter_config(const std::string& folder);
Result<std::string> adapter_checksum(const std::string& folder);

}  // namespace hyfreedp::models
