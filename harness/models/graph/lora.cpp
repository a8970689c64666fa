#include "harness/models/graph/lora.h"

#include <cmath>

#include "harness/models/files/config_keys.h"

namespace hyfreedp::models {

std::string adapter_prefix(const std::string& layer) { return "base_model.model." + layer; }

bool is_adapter(const std::string& parameter) { return parameter.find(".lora_") != std::string::npos; }

double Lora::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (root_scaling ? std::sqrt(r) : r);
}

bool Lora::adapts(const std::string& layer) const {
  for (const auto& target : targets) {
    if (layer == target || layer.ends_with("." + target)) return true;
  }
  return false;
}

Result<Lora> Lora::from_json(const json::object& config, const std::string& where) {
  if (auto known = check_keys(ConfigKeys::adapter, config, where); !known) return known.error();
  Lora lora;
  const auto rank = get_int(config, "r", where);
  const auto alpha = get_double(config, "lora_alpha", where);
  if (!rank) return rank.error();
  if (!alpha) return alpha.error();
  if (*rank < 1) return error(where + ": 'r' must be at least 1");
  lora.rank = *rank;
  lora.alpha = *alpha;
  lora.root_scaling = bool_or(config, "use_rslora", false);
  const auto* targets = config.if_contains("target_modules");
  if (targets == nullptr || !targets->is_array() || targets->get_array().empty()) {
    return error(where + ": 'target_modules' must be a list of layer names");
  }
  for (const auto& target : targets->get_array()) {
    if (!target.is_string()) return error(where + ": 'target_modules' must be a list of layer names");
    lora.targets.emplace_back(target.get_string());
  }
  return lora;
}

}  // namespace hyfreedp::models
