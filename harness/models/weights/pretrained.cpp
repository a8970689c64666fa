#include "harness/models/weights/pretrained.h"

#include "harness/models/facts/named_files.h"
#include "harness/models/facts/published_tensors.h"
#include "harness/models/facts/weights_fit.h"
#include "harness/models/facts/weights_source.h"
#include "harness/models/networks/options.h"
#include "harness/models/weights/batch_norm_folding.h"
#include "harness/models/weights/resized_positions.h"
#include "harness/models/weights/squeezenet_weights.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {
namespace {

// Weights of other names, layout or images in the network's form.
Result<void> fit_to_network(const Blueprint& plan, bool with_head, NamedTensors& weights) {
  if (const auto& form = plan.description.published; is_published(form, shapes_of(weights))) {
    const auto* const normed = std::get_if<NormedNetwork>(&form);
    auto fitted = normed != nullptr ? fold_batch_norms(*normed, weights, with_head)
                                    : squeezenet_from_caffe(std::get<CaffeNetwork>(form), weights, with_head);
    if (!fitted) return fitted.error();
    weights = std::move(*fitted);
  }
  const auto patches = resampled_patches(plan);
  const auto found = weights.find(kPositions);
  if (!patches || found == weights.end()) return {};
  auto& positions = found->second;
  if (auto square = check_positions(positions.sizes().vec()); !square) return square;
  positions = resized_positions(positions, *patches);
  return {};
}

Result<void> load_base(Network& network, const Blueprint& plan, const json::object& options) {
  const auto name = read_options<SharedOptions>(options).weights.value_or("");
  if (name.empty()) return {};
  const auto folder = locate_weights(name);
  if (!folder) return folder.error();
  const auto config = weights_config(*folder);
  if (!config) return config.error();
  if (auto same = check_own_config(plan, *config, *folder + "/config.json"); !same) return same;
  auto weights = read_weights(*folder);
  if (!weights) return weights.error();
  const bool new_head = draws_new_head(plan, options, *config);
  auto fitted = fit_to_network(plan, !new_head, *weights);
  if (!fitted) return in_context(*folder, fitted.error());
  auto loaded = load_weights(network, *weights, rules_of(plan, new_head));
  return loaded ? loaded : in_context(*folder, loaded.error());
}

}  // namespace

Result<void> load_pretrained(Network& network, const Blueprint& plan, const json::object& options) {
  if (auto same = complete_options(options); !same) return same.error();
  if (auto fits = check_fit(plan, options); !fits) return fits;
  if (auto loaded = load_base(network, plan, options); !loaded) return loaded;
  const auto adapter = read_options<SharedOptions>(options).adapter.value_or("");
  if (adapter.empty()) return {};
  const auto folder = locate_adapter(adapter);
  if (!folder) return folder.error();
  return load_adapter(network, *folder);
}

}  // namespace hyfreedp::models
