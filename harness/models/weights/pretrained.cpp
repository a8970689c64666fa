#include "harness/models/weights/pretrained.h"

#include <cmath>
#include <fmt/format.h>

#include "harness/models/facts/presets.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/vit.h"
#include "harness/models/weights/efficientnet_lite_weights.h"
#include "harness/models/weights/model_config.h"
#include "harness/models/weights/resnet_imagenet_weights.h"
#include "harness/models/weights/squeezenet_weights.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace {

bool is_left(const std::string& name, bool tied) {
  // The last: which row of BEiT's table is of which pair of positions, in older files.
  for (const char* stored :
       {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", ".relative_position_index"}) {
    if (name.ends_with(stored)) return true;
  }
  return tied && name == "lm_head.weight";
}

// Of a ViT whose blocks are joined for the head: the norm that is before the file's own.
bool is_last_norm(const std::string& name) {
  return name.starts_with("norm.") || name.starts_with("fc_norm.");
}

Result<void> fit_vit(const VitShape& shape, NamedTensors& weights) {
  if (const auto found = weights.find("pos_embed"); found != weights.end()) {
    auto& positions = found->second;
    if (positions.dim() != 3 || positions.size(0) != 1 || positions.size(1) < 2) {
      return error("The weights' 'pos_embed' is not [1, 1 + patches, width].");
    }
    const auto patches = positions.size(1) - 1;
    const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(patches))));
    if (side * side != patches) return error("The weights' 'pos_embed' is not of a square of patches.");
    positions = resized_positions(positions, shape.patches());
  }
  return {};
}

// A published file has BatchNorms and names of its own; one that this program kept has neither.
Result<void> fit_efficientnet_lite(const EfficientNetLiteShape& shape, bool with_head,
                                   NamedTensors& weights) {
  if (!weights.contains("_conv_stem.weight")) return {};
  auto folded = folded_efficientnet_lite(shape, weights, with_head);
  if (!folded) return folded.error();
  weights = std::move(*folded);
  return {};
}

Result<void> fit_squeezenet(const SqueezeNetShape& shape, bool with_head, NamedTensors& weights) {
  if (!has_caffe_names(weights)) return {};
  auto fitted = squeezenet_from_caffe(shape, weights, with_head);
  if (!fitted) return fitted.error();
  weights = std::move(*fitted);
  return {};
}

Result<void> fit_resnet_imagenet(const ResnetImagenetShape& shape, bool with_head, NamedTensors& weights) {
  if (!has_batch_norms(weights)) return {};
  auto folded = folded_resnet_imagenet(shape, weights, with_head);
  if (!folded) return folded.error();
  weights = std::move(*folded);
  return {};
}

// Shapes of tensors do not tell one activation from another, so the folder's config.json must say
// the same network.
Result<void> check_own_config(const std::string& folder, const Blueprint& plan) {
  const auto there = weights_config(folder);
  if (!there) return there.error();
  const auto here = canonical_json(model_config(plan.shape));
  if (canonical_json(*there) == here) return {};
  return error(fmt::format("{}/config.json describes another network: it has {}, the spec has {}.", folder,
                           canonical_json(*there), here));
}

Result<void> load_base(Network& network, const Blueprint& plan, const json::object& options) {
  const auto name = string_or(options, "weights", "");
  if (name.empty()) return {};
  const auto folder = locate_weights(name);
  if (!folder) return folder.error();
  if (!has_sizes_of_folder(plan.shape)) {
    if (auto same = check_own_config(*folder, plan); !same) return same;
  }
  auto weights = read_weights(*folder);
  if (!weights) return weights.error();

  const auto* const vit = std::get_if<VitShape>(&plan.shape);
  const auto* const lite = std::get_if<EfficientNetLiteShape>(&plan.shape);
  const auto* const squeezenet = std::get_if<SqueezeNetShape>(&plan.shape);
  const auto* const resnet = std::get_if<ResnetImagenetShape>(&plan.shape);
  const bool has_choice = vit != nullptr || lite != nullptr || squeezenet != nullptr || resnet != nullptr ||
                          std::holds_alternative<ConvnextShape>(plan.shape);
  const bool new_head = has_choice && string_or(options, "head", "new") == "new";
  bool tied = false;
  LoadRules rules;
  if (vit != nullptr) {
    if (auto fitted = fit_vit(*vit, *weights); !fitted) return fitted;
  } else if (lite != nullptr) {
    if (auto fitted = fit_efficientnet_lite(*lite, !new_head, *weights); !fitted) {
      return in_context(*folder, fitted.error());
    }
  } else if (squeezenet != nullptr) {
    if (auto fitted = fit_squeezenet(*squeezenet, !new_head, *weights); !fitted) {
      return in_context(*folder, fitted.error());
    }
  } else if (resnet != nullptr) {
    if (auto fitted = fit_resnet_imagenet(*resnet, !new_head, *weights); !fitted) {
      return in_context(*folder, fitted.error());
    }
  } else if (const auto* gpt2 = std::get_if<Gpt2Shape>(&plan.shape)) {
    tied = gpt2->tied;
    rules.prefix = "transformer.";
  } else if (const auto* llama = std::get_if<LlamaShape>(&plan.shape)) {
    tied = llama->tied;
  }
  if (new_head) {
    std::erase_if(*weights, [&](const auto& one) { return one.first.starts_with(plan.head); });
  }
  const bool joined = vit != nullptr && vit->joins_blocks();
  rules.may_be_left = [tied, joined](const std::string& entry) {
    return is_left(entry, tied) || (joined && is_last_norm(entry));
  };
  rules.may_be_absent = [&plan, new_head](const std::string& parameter) {
    return is_adapter(parameter) || (new_head && parameter.starts_with(plan.head));
  };
  auto loaded = load_weights(network, *weights, rules);
  return loaded ? loaded : in_context(*folder, loaded.error());
}

}  // namespace

Result<void> load_pretrained(Network& network, const Blueprint& plan, const json::object& options) {
  if (auto same = complete_options(options); !same) return same.error();
  if (auto loaded = load_base(network, plan, options); !loaded) return loaded;
  const auto adapter = string_or(options, "adapter", "");
  if (adapter.empty()) return {};
  const auto folder = locate_adapter(adapter);
  if (!folder) return folder.error();
  return load_adapter(network, *folder);
}

}  // namespace hyfreedp::models
