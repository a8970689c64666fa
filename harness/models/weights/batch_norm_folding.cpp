#include "harness/models/weights/batch_norm_folding.h"

#include <map>

#include "harness/models/weights/misfits.h"

namespace hyfreedp::models {
namespace {

using Sizes = std::vector<std::int64_t>;

// What the file must have, with shapes.
std::map<std::string, Sizes> expected(const NormedNetwork& network, bool with_head) {
  std::map<std::string, Sizes> tensors;
  for (const auto& one : network.convolutions) {
    tensors[one.file + ".weight"] = one.shape;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"})
      tensors[one.norm + part] = {one.shape.front()};
  }
  if (!with_head) return tensors;
  tensors[network.head_file + ".weight"] = network.head_shape;
  tensors[network.head_file + ".bias"] = {network.head_shape.front()};
  return tensors;
}

}  // namespace

Result<NamedTensors> fold_batch_norms(const NormedNetwork& network, const NamedTensors& file,
                                      bool with_head) {
  Misfits misfits;
  misfits.compare(file, expected(network, with_head), [&](const std::string& name) {
    return name.ends_with(".num_batches_tracked") ||
           (!with_head && name.starts_with(network.head_file + "."));
  });
  if (auto fits = misfits.result(); !fits) return fits.error();

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
