#include "harness/models/weights/batch_norm_folding.h"

namespace hyfreedp::models {
Result<NamedTensors> fold_batch_norms(const NormedNetwork& network, const NamedTensors& file,
                                      bool with_head) {
  if (auto fits = check_published(network, shapes_of(file), with_head); !fits) return fits.error();

  const auto wide = [&](const std::string& name) { return file.at(name).to(torch::kFloat64); };
  NamedTensors folded;
  for (const auto& one : network.convolutions) {
    const auto variance = wide(one.norm + ".running_var");
    if (!(variance >= 0).all().item<bool>()) {
      return error(one.norm + ".running_var: a variance is negative or not a number.");
    }
    const auto scale = wide(one.norm + ".weight") / (variance + network.eps).sqrt();
    folded[one.name + ".weight"] = wide(one.file + ".weight") * scale.view({-1, 1, 1, 1});
    folded[one.name + ".bias"] = wide(one.norm + ".bias") - wide(one.norm + ".running_mean") * scale;
  }
  if (with_head) {
    for (const char* part : {".weight", ".bias"})
      folded[network.head + part] = wide(network.head_file + part);
  }
  for (const auto& [name, values] : folded) {
    if (!at::isfinite(values).all().item<bool>()) {
      return error(name + ": after folding, a value is infinite or not a number.");
    }
  }
  return folded;
}

}  // namespace hyfreedp::models
