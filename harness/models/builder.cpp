#include "harness/models/builder.h"

#include <cmath>

#include "harness/base/text.h"
#include "harness/models/shape.h"

namespace hyfreedp::models {

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
  if (string_or(config, "peft_type", "LORA") != "LORA") {
    return error(where + ": peft_type is '" + string_or(config, "peft_type", "") + "'; only LORA is known");
  }
  for (const char* refused : {"use_dora", "use_qalora", "lora_bias"}) {
    if (bool_or(config, refused, false)) return error(where + ": '" + refused + "' is not supported");
  }
  for (const char* refused : {"rank_pattern", "alpha_pattern", "modules_to_save", "layers_to_transform"}) {
    const auto* value = config.if_contains(refused);
    if (value == nullptr || value->is_null()) continue;
    if ((value->is_object() && value->get_object().empty()) ||
        (value->is_array() && value->get_array().empty()))
      continue;
    return error(where + ": '" + refused + "' is not supported");
  }
  if (const auto bias = string_or(config, "bias", "none"); bias != "none") {
    return error(where + ": bias '" + bias + "' is not supported; use none");
  }
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

int Builder::add(std::string name, std::shared_ptr<Layer> layer, std::vector<int> inputs) {
  places_.push_back({std::move(name), std::move(layer), std::move(inputs)});
  return last();
}

int Builder::linear(const std::string& name, const LinearSize& size, int input) {
  const int base = add(
      name, std::make_shared<Linear>(size.inputs, size.outputs, size.with_bias, size.transposed), {input});
  if (!lora_ || !lora_->adapts(name)) return base;
  adapted_ = true;
  const auto prefix = "base_model.model." + name;
  const int down =
      add(prefix + ".lora_A", std::make_shared<Linear>(size.inputs, lora_->rank, false), {input});
  const int up = add(prefix + ".lora_B", std::make_shared<Linear>(lora_->rank, size.outputs, false), {down});
  return add(prefix + ".lora", std::make_shared<Add>(lora_->scale()), {base, up});
}

Result<Network> Builder::build(const torch::TensorOptions& options, const Network::Trainable& trainable) {
  if (lora_ && !adapted_) {
    return error("model: no linear layer is called " + join(lora_->targets, " or ") +
                 ", so the adapter has nothing to adapt.");
  }
  return Network::make(std::move(places_), options, trainable);
}

}  // namespace hyfreedp::models
