#include "harness/models/weights/pretrained.h"

#include "harness/models/facts/presets.h"
#include "harness/models/facts/published_tensors.h"
#include "harness/models/facts/weights_fit.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/weights/batch_norm_folding.h"
#include "harness/models/weights/resized_positions.h"
#include "harness/models/weights/squeezenet_weights.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace {

Result<void> fit_vit(const VitShape& shape, NamedTensors& weights) {
  if (const auto found = weights.find("pos_embed"); found != weights.end()) {
    auto& positions = found->second;
    if (auto square = check_positions(positions.sizes().vec()); !square) return square;
    positions = resized_positions(positions, shape.patches());
  }
  return {};
}

// Published files of other names and layout, in the network's form.
Result<void> fit_published(const Blueprint& plan, bool with_head, NamedTensors& weights) {
  const auto shapes = shapes_of(weights);
  Result<NamedTensors> fitted = NamedTensors();
  if (const auto* lite = std::get_if<EfficientNetLiteShape>(&plan.shape)) {
    if (!has_batch_norms(shapes)) return {};
    fitted = fold_batch_norms(normed(*lite), weights, with_head);
  } else if (const auto* resnet = std::get_if<ResnetImagenetShape>(&plan.shape)) {
    if (!has_batch_norms(shapes)) return {};
    fitted = fold_batch_norms(normed(*resnet), weights, with_head);
  } else if (const auto* squeezenet = std::get_if<SqueezeNetShape>(&plan.shape)) {
    if (!has_caffe_names(shapes)) return {};
    fitted = squeezenet_from_caffe(*squeezenet, weights, with_head);
  } else {
    return {};
  }
  if (!fitted) return fitted.error();
  weights = std::move(*fitted);
  return {};
}

Result<void> load_base(Network& network, const Blueprint& plan, const json::object& options) {
  const auto name = string_or(options, "weights", "");
  if (name.empty()) return {};
  const auto folder = locate_weights(name);
  if (!folder) return folder.error();
  const auto config = weights_config(*folder);
  if (!config) return config.error();
  if (auto same = check_own_config(plan, *config, *folder + "/config.json"); !same) return same;
  auto weights = read_weights(*folder);
  if (!weights) return weights.error();
  const bool new_head = draws_new_head(plan, options, *config);
  const auto* const vit = std::get_if<VitShape>(&plan.shape);
  auto fitted = vit != nullptr ? fit_vit(*vit, *weights) : fit_published(plan, !new_head, *weights);
  if (!fitted) return in_context(*folder, fitted.error());
  auto loaded = load_weights(network, *weights, rules_of(plan, new_head));
  return loaded ? loaded : in_context(*folder, loaded.error());
}

}  // namespace

Result<void> load_pretrained(Network& network, const Blueprint& plan, const json::object& options) {
  if (auto same = complete_options(options); !same) return same.error();
  if (auto fits = check_fit(plan, options); !fits) return fits;
  if (auto loaded = load_base(network, plan, options); !loaded) return loaded;
  const auto adapter = string_or(options, "adapter", "");
  if (adapter.empty()) return {};
  const auto folder = locate_adapter(adapter);
  if (!folder) return folder.error();
  return load_adapter(network, *folder);
}

}  // namespace hyfreedp::models
