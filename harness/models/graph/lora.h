// Low-rank adapters (LoRA, Hu et al., arXiv:2106.09685) beside a linear layer:
// y = W x + (alpha / rank) B (A x), A [rank, in], B [out, rank]. The adapters' parameters have
// peft's names, base_model.model.LAYER.lora_A.weight and .lora_B.weight; the layer's parameters
// keep their own. This file needs no LibTorch.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::models {

inline constexpr std::int64_t kDefaultRank = 8;

struct Lora {
  std::int64_t rank = kDefaultRank;
  double alpha = 8;
  bool root_scaling = false;         // alpha / sqrt(rank) ("rslora")
  std::vector<std::string> targets;  // names of layers, or their ends after a dot

  double scale() const;
  bool adapts(const std::string& layer) const;
  // Reads peft's adapter_config.json, whose keys must be known (config_keys.h).
  static Result<Lora> from_json(const json::object& config, const std::string& where);
};

std::string adapter_prefix(const std::string& layer);  // "base_model.model.LAYER"
bool is_adapter(const std::string& parameter);

}  // namespace hyfreedp::models
