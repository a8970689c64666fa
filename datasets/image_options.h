// The options that datasets of colour images share, without LibTorch: how large the images are
// made, which numbers their bytes stand for, and whether a frozen network turns them into features.
#pragma once

#include <vector>

#include "datasets/facts.h"
#include "datasets/image/resize.h"
#include "harness/base/describe.h"
#include "harness/models/graph/model_input.h"

namespace hyfreedp::datasets {

enum class ImageFeatures { hog, pixels, network };
BOOST_DESCRIBE_ENUM(ImageFeatures, hog, pixels, network)
enum class Normalise { half, imagenet, cifar100, clip, none };
BOOST_DESCRIBE_ENUM(Normalise, half, imagenet, cifar100, clip, none)
enum class FeatureLayer { last, block_tokens, block_quarters };
BOOST_DESCRIBE_ENUM(FeatureLayer, last, block_tokens, block_quarters)

// Those that no dataset has otherwise, so that they are read of any.
struct OpenOptions {
  std::optional<std::string> network, weights, weights_sha256;
  bool is_public = false;
  static constexpr std::array kNames = {description::Name{"is_public", "public"}};
};
BOOST_DESCRIBE_STRUCT(OpenOptions, (), (network, weights, weights_sha256, is_public))

struct ImageOptions {
  ImageFeatures features = ImageFeatures::pixels;
  std::int64_t side = 32;  // pixels: the shorter side becomes this, and the middle square is kept
  Interpolation interpolation = Interpolation::bicubic;
  Normalise normalise = Normalise::half;
  std::int64_t copies = 0;  // random copies in the place of a training image; 0: the image itself
  FeatureLayer layer = FeatureLayer::last;
  std::optional<double> feature_norm;  // to which each image's features are scaled
  std::optional<std::int64_t> feature_width;
  OpenOptions open;
  static constexpr std::array kInlined = {"open"};

  bool uses_network() const { return features == ImageFeatures::network; }
  // [3, side, side], as a network takes it.
  models::ModelInput input() const;
};
BOOST_DESCRIBE_STRUCT(ImageOptions, (),
                      (features, side, interpolation, normalise, copies, layer, feature_norm, feature_width,
                       open))

// With these defaults. All but `features`, and a `side` that is not the usual, are left out of the
// resolved options where they have their default. `help`: of `features`.
std::vector<OptionSpec> image_options(const ImageOptions& defaults = {}, std::string help = {});

// A byte b of channel c stands for (b / 255 - mean[c]) / deviation[c].
struct PixelScale {
  std::vector<double> mean;       // one entry a channel
  std::vector<double> deviation;  // the same
};

PixelScale pixel_scale(Normalise normalise);

// The frozen network's registered name and its options, as make_model takes them.
struct FrozenNetwork {
  std::string name;
  json::object options;
};
// Reads options with `features: network`. Errors name the option that is missing or unknown.
Result<FrozenNetwork> frozen_network(const json::object& options);

// Whether the dataset's features are those of a frozen network. Of other datasets the option
// `features` may be a number, or absent.
bool uses_network(const json::object& options);

// Fills in the checksum of the weights and the number of features. Errors: weights that are not
// here, and options that have no effect. `only_with_network`: the dataset's other features read
// none of these options.
Result<json::object> complete_image_options(json::object options, bool only_with_network = false);
// `sizes` with features and image set: the network's features, or pixels.
Sizes with_image_sizes(Sizes sizes, const json::object& options);

}  // namespace hyfreedp::datasets
