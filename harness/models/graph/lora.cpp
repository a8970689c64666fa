#include "harness/models/graph/lora.h"

#include <cmath>

#include "harness/models/files/config_keys.h"

namespace hyfreedp::models {
namespace {

constexpr const char* kChangedBase =
    "Such an adapter belongs to base weights that were changed when it was made; peft turns it into a plain "
    "one: save_pretrained(..., path_initial_model_for_weight_conversion=...).";

Keys of_adapter() {
  return keys::joined(
      {keys::used(Holds::whole, "r"), keys::used(Holds::number, "lora_alpha"),
       keys::used(Holds::flag, "use_rslora"), keys::used(Holds::list, "target_modules"),
       keys::only(R"(["LORA"])", "peft_type"),
       keys::only(R"([null, true, false, "gaussian", "eva", "orthogonal", "mica"])", "init_lora_weights",
                  kChangedBase),
       keys::only(R"([null, "none"])", "bias"), keys::only("[null, false]", "use_dora use_qalora lora_bias"),
       keys::only("[null, {}]", "rank_pattern alpha_pattern"),
       keys::only("[null, []]",
                  "modules_to_save layers_to_transform exclude_modules target_parameters layer_replication "
                  "trainable_token_indices alora_invocation_tokens"),
       keys::only("[null]", "use_bdlora arrow_config kasa_config velora_config monteclora_config"),
       // These have no effect without the values refused above, or say how peft itself computes.
       keys::harmless(
           "lora_dropout fan_in_fan_out inference_mode base_model_name_or_path revision task_type "
           "auto_mapping peft_version layers_pattern megatron_config megatron_core loftq_config eva_config "
           "corda_config lora_ga_config qalora_group_size runtime_config ensure_weight_tying")});
}

}  // namespace

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
  if (auto known =
          check_keys({"a plain LoRA adapter", of_adapter(), "Use an adapter without it."}, config, where);
      !known)
    return known.error();
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
