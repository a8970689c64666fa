#include "harness/training/kept_weights.h"

#include <filesystem>

#include "harness/base/files.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/weights/model_folder.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::training {
namespace {

namespace fs = std::filesystem;

Result<void> write_into(const FinalWeights& final, const std::string& folder) {
  const auto& model = final.config.model;
  const auto plan = models::blueprint(model.name, model.options, final.input);
  if (!plan) return plan.error();
  const auto written = models::write_model_folder(final.network, *plan, model.options, folder);
  if (!written) return written.error();
  const bool centred = final.feature_mean.defined();
  if (centred) {
    auto mean =
        models::write_safetensors(folder + "/" + models::kFeatureMean, {{"mean", final.feature_mean}});
    if (!mean) return mean;
  }
  const json::object kept{{"values", final.values},
                          {"attempt", final.attempt},
                          {"adapter", written->has_adapter},
                          {"network", written->has_network},
                          {"centred", centred}};
  return write_file_atomically(folder + "/" + models::kStagedMetadata, pretty_json(kept));
}

}  // namespace

Result<void> keep_weights(const FinalWeights& final, const std::string& folder) {
  const fs::path partial = folder + ".partial";
  std::error_code failure;
  fs::remove_all(partial, failure);
  // The folder is its user's alone from the first moment: until its row is priced nobody knows
  // whether it may be shown.
  if (auto made = make_private_folder(partial.string()); !made) return made;
  if (auto written = write_into(final, partial.string()); !written) {
    fs::remove_all(partial, failure);
    return written;
  }
  fs::remove_all(folder, failure);
  fs::rename(partial, folder, failure);
  if (failure) return error(folder + ": cannot put the folder into its place (" + failure.message() + ")");
  return sync_folder(partial.parent_path().string());
}

}  // namespace hyfreedp::training
