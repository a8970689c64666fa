#include "datasets/image_options.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/own/own_files.h"
#include "harness/base/option_lines.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/imagenet.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_fit.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kMostCopies = 64;

}  // namespace

PixelScale pixel_scale(Normalise normalise) {
  switch (normalise) {
    case Normalise::imagenet:
      return {{models::kImageNetMean.begin(), models::kImageNetMean.end()},
              {models::kImageNetDeviation.begin(), models::kImageNetDeviation.end()}};
    case Normalise::cifar100:
      return {{0.5070, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2761}};
    case Normalise::clip:
      return {{models::kClipMean.begin(), models::kClipMean.end()},
              {models::kClipDeviation.begin(), models::kClipDeviation.end()}};
    case Normalise::none:
      return {{0, 0, 0}, {1, 1, 1}};
    case Normalise::half:
      break;
  }
  return {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
}

bool uses_network(const json::object& options) {
  const auto* features = options.if_contains("features");
  return features != nullptr && *features == "network";
}

std::vector<OptionSpec> image_options(const ImageOptions& defaults, std::string help) {
  if (help.empty()) {
    help =
        "pixels: the images themselves; network: what a frozen network gives to its last layer, computed "
        "once and cached";
  }
  auto features = plain_option("features", std::move(help));
  if (defaults.features == ImageFeatures::pixels) features.choices = {"pixels", "network"};
  std::vector<OptionSpec> table = {
      ranged_option("side", 8, 4096,
                    "the shorter side is made this long, in pixels, and the middle square is kept"),
      plain_option("interpolation", "of resizing, as PIL does it"),
      plain_option("normalise",
                   "a byte b reaches the network as (b / 255 - mean) / deviation: half 0.5 and 0.5; "
                   "imagenet, cifar100 and clip each channel's own of their training images; none 0 and 1"),
      plain_option("network", "with features: network: the model (hyfreedp list models)"),
      plain_option("weights", "its weights folder, as of a model's option 'weights'"),
      ranged_option("copies", 0, kMostCopies,
                    "with features: network: the features of so many random copies of each training image, "
                    "moved and mirrored, are averaged over in its gradient; 0: those of the image itself"),
      plain_option("weights_sha256", "checksum of that folder; filled in when a spec is read"),
      plain_option("layer",
                   "with features: network: what its last layer reads; or of a vision transformer what every "
                   "block gives, joined: its class token, or the means of four quarters of its patches"),
      ranged_option("feature_norm", 1e-6, 1e6,
                    "with features: network: each image's features are scaled to this Euclidean norm"),
      ranged_option("feature_width", 1, 1e6, "number of its features; filled in when a spec is read"),
      plain_option(
          "public",
          "declares the training and validation images public, as those of a benchmark on which weights are "
          "pretrained: what is computed from them without noise is then no secret")};
  for (auto& option : table) option.stored_always = false;
  // Part of the resolved options, so that whoever reads these needs to know no set's own.
  table.front().stored_always = defaults.side != ImageOptions().side;
  return options_of(joined({{features}, table}), defaults);
}

models::ModelInput ImageOptions::input() const {
  // The head is not used, so the number of classes is any.
  return {.features = kChannels * side * side, .classes = 2, .image = {kChannels, side, side}};
}

Result<FrozenNetwork> frozen_network(const json::object& options) {
  for (const char* name : {"network", "weights"}) {
    if (!is_given(options, name)) {
      return error(
          fmt::format("features: network needs '{}'; for example network: efficientnet-lite, weights: "
                      "efficientnet-lite0.",
                      name));
    }
  }
  const auto given = read_options<ImageOptions>(options);
  const auto& name = *given.open.network;
  const auto facts = models::find_model(name);
  if (!facts) return facts.error();
  json::object own = {{"weights", *given.open.weights}};
  if (given.open.weights_sha256) own["weights_sha256"] = *given.open.weights_sha256;
  if (given.layer != FeatureLayer::last) {
    own["pool"] = name_of(given.layer);
    if (std::ranges::find((**facts).options, "pool", &OptionSpec::name) == (**facts).options.end()) {
      return error(
          fmt::format("'layer: {}' needs a vision transformer (vit, beit, clip or eva02); {} has no "
                      "blocks of tokens.",
                      name_of(given.layer), name));
    }
  }
  auto resolved = resolve_options((**facts).options, own, "network");
  if (!resolved) return resolved.error();
  return FrozenNetwork{.name = name, .options = std::move(*resolved)};
}

Result<json::object> complete_image_options(json::object options, bool only_with_network) {
  if (!uses_network(options)) {
    std::vector<const char*> unread = {"network", "weights",      "weights_sha256", "copies",
                                       "layer",   "feature_norm", "feature_width"};
    if (only_with_network) unread.insert(unread.end(), {"side", "interpolation", "normalise"});
    for (const char* name : unread) {
      if (is_given(options, name)) {
        return error(fmt::format("'{}' has no effect without 'features: network'.", name));
      }
    }
    return options;
  }
  const auto network = frozen_network(options);
  if (!network) return network.error();
  const auto completed = models::complete_options(network->options);
  if (!completed) return completed.error();
  const auto own = read_options<ImageOptions>(options);
  const auto input = own.input();
  const auto width = models::feature_width(network->name, *completed, input);
  if (!width) return width.error();
  const auto plan = models::blueprint(network->name, *completed, input);
  if (!plan) return plan.error();
  if (auto fits = models::check_fit(*plan, *completed); !fits) return fits.error();
  if (const auto before = own.feature_width.value_or(*width); before != *width) {
    return error(
        fmt::format("'feature_width' is filled in when a spec is read, and is {}, not {}.", *width, before));
  }
  if (is_given(*completed, "weights_sha256")) options["weights_sha256"] = completed->at("weights_sha256");
  options["feature_width"] = *width;
  return options;
}

Sizes with_image_sizes(Sizes sizes, const json::object& options) {
  const auto own = read_options<ImageOptions>(options);
  if (own.uses_network()) {
    sizes.features = own.feature_width.value_or(0);
    sizes.copies = std::max<std::int64_t>(1, own.copies);
    sizes.image = {};
    return sizes;
  }
  const auto input = own.input();
  sizes.image = input.image;
  sizes.features = input.features;
  return sizes;
}

}  // namespace hyfreedp::datasets
