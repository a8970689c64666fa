#include "datasets/image_options.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/option_lines.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/imagenet.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/facts/weights_fit.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kMostCopies = 64;

PixelScale scale_named(const std::string& name) {
  if (name == "imagenet") {
    return {{models::kImageNetMean.begin(), models::kImageNetMean.end()},
            {models::kImageNetDeviation.begin(), models::kImageNetDeviation.end()}};
  }
  if (name == "cifar100") return {{0.5070, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2761}};
  if (name == "clip") {
    return {{models::kClipMean.begin(), models::kClipMean.end()},
            {models::kClipDeviation.begin(), models::kClipDeviation.end()}};
  }
  if (name == "none") return {{0, 0, 0}, {1, 1, 1}};
  return {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
}

bool given(const json::object& options, const char* name) {
  const auto* value = options.if_contains(name);
  return value != nullptr && !value->is_null();
}

}  // namespace

bool uses_network(const json::object& options) {
  const auto* features = options.if_contains("features");
  return features != nullptr && *features == "network";
}

std::vector<OptionSpec> image_options(std::vector<std::string> features, std::string help) {
  if (help.empty()) {
    help =
        "pixels: the images themselves; network: what a frozen network gives to its last layer, computed "
        "once and cached";
  }
  std::vector<OptionSpec> options = {
      integer_option("side", 32, 8, 4096,
                     "the shorter side is made this long, in pixels, and the middle square is kept"),
      choice_option("interpolation", {"bicubic", "bilinear"}, "of resizing, as PIL does it"),
      choice_option("normalise", {"half", "imagenet", "cifar100", "clip", "none"},
                    "a byte b reaches the network as (b / 255 - mean) / deviation: half 0.5 and 0.5; "
                    "imagenet, cifar100 and clip each channel's own of their training images; none 0 and 1"),
      text_option("network", nullptr, "with features: network: the model (hyfreedp list models)"),
      text_option("weights", nullptr, "its weights folder, as of a model's option 'weights'"),
      integer_option("copies", 0, 0, kMostCopies,
                     "with features: network: the features of so many random copies of each training image, "
                     "moved and mirrored, are averaged over in its gradient; 0: those of the image itself"),
      text_option("weights_sha256", nullptr, "checksum of that folder; filled in when a spec is read"),
      choice_option(
          "layer", {"last", "block-tokens", "block-quarters"},
          "with features: network: what its last layer reads; or of a vision transformer what every "
          "block gives, joined: its class token, or the means of four quarters of its patches"),
      optional_real_option("feature_norm", 1e-6, 1e6,
                           "with features: network: each image's features are scaled to this Euclidean norm"),
      {.name = "feature_width",
       .type = OptionType::integer,
       .default_value = nullptr,
       .help = "number of its features; filled in when a spec is read",
       .min = 1,
       .max = 1e6},
      flag_option(
          "public", false,
          "declares the training and validation images public, as those of a benchmark on which weights are "
          "pretrained: what is computed from them without noise is then no secret")};
  for (auto& option : options) option.stored_always = false;
  options.insert(options.begin(), choice_option("features", std::move(features), std::move(help)));
  return options;
}

models::ModelInput ImagePreparation::input() const {
  // The head is not used, so the number of classes is any.
  return {.features = kChannels * side * side, .classes = 2, .image = {kChannels, side, side}};
}

ImagePreparation image_preparation(const json::object& options) {
  const bool linear = string_or(options, "interpolation", "bicubic") == "bilinear";
  return {.side = int_or(options, "side", 32),
          .interpolation = linear ? Interpolation::bilinear : Interpolation::bicubic,
          .scale = scale_named(string_or(options, "normalise", "half")),
          .network = uses_network(options),
          .feature_norm = double_or(options, "feature_norm", 0)};
}

std::int64_t copies_of_images(const json::object& options) { return int_or(options, "copies", 0); }

Result<FrozenNetwork> frozen_network(const json::object& options) {
  for (const char* name : {"network", "weights"}) {
    if (!given(options, name)) {
      return error(
          fmt::format("features: network needs '{}'; for example network: efficientnet-lite, weights: "
                      "efficientnet-lite0.",
                      name));
    }
  }
  const auto name = string_or(options, "network", "");
  const auto facts = models::find_model(name);
  if (!facts) return facts.error();
  json::object own = {{"weights", options.at("weights")}};
  if (given(options, "weights_sha256")) own["weights_sha256"] = options.at("weights_sha256");
  if (const auto layer = string_or(options, "layer", "last"); layer != "last") {
    if (std::ranges::find((**facts).options, "pool", &OptionSpec::name) == (**facts).options.end()) {
      return error(
          fmt::format("'layer: {}' needs a vision transformer (vit, beit, clip or eva02); {} has no "
                      "blocks of tokens.",
                      layer, name));
    }
    own["pool"] = layer;
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
      if (given(options, name)) {
        return error(fmt::format("'{}' has no effect without 'features: network'.", name));
      }
    }
    return options;
  }
  const auto network = frozen_network(options);
  if (!network) return network.error();
  const auto completed = models::complete_options(network->options);
  if (!completed) return completed.error();
  const auto input = image_preparation(options).input();
  const auto width = models::feature_width(network->name, *completed, input);
  if (!width) return width.error();
  const auto plan = models::blueprint(network->name, *completed, input);
  if (!plan) return plan.error();
  if (auto fits = models::check_fit(*plan, *completed); !fits) return fits.error();
  if (given(options, "feature_width") && int_or(options, "feature_width", 0) != *width) {
    return error(fmt::format("'feature_width' is filled in when a spec is read, and is {}, not {}.", *width,
                             int_or(options, "feature_width", 0)));
  }
  if (given(*completed, "weights_sha256")) options["weights_sha256"] = completed->at("weights_sha256");
  options["feature_width"] = *width;
  return options;
}

Sizes with_image_sizes(Sizes sizes, const json::object& options) {
  if (uses_network(options)) {
    sizes.features = int_or(options, "feature_width", 0);
    sizes.copies = std::max<std::int64_t>(1, copies_of_images(options));
    sizes.image = {};
    return sizes;
  }
  const auto input = image_preparation(options).input();
  sizes.image = input.image;
  sizes.features = input.features;
  return sizes;
}

}  // namespace hyfreedp::datasets
