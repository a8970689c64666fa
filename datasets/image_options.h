// The options that datasets of colour images share, without LibTorch: how large the images are
// made, which numbers their bytes stand for, and whether a frozen network turns them into features.
#pragma once

#include <vector>

#include "datasets/facts.h"
#include "datasets/image/resize.h"
#include "harness/models/graph/model_input.h"

namespace hyfreedp::datasets {

// `features`, of these choices (the first is the default; one is "network") and with this help, and
// `side`, `interpolation`, `normalise`, `network`, `weights`, `copies`, `layer`, `feature_norm`,
// and two that complete_image_options fills in; all but `features` are left out of the resolved
// options where they have their defaults.
std::vector<OptionSpec> image_options(std::vector<std::string> features, std::string help = {});

// A byte b of channel c stands for (b / 255 - mean[c]) / deviation[c].
struct PixelScale {
  std::vector<double> mean;       // one entry a channel
  std::vector<double> deviation;  // the same
};

struct ImagePreparation {
  std::int64_t side = 0;  // pixels: the shorter side becomes this, and the middle square is kept
  Interpolation interpolation = Interpolation::bicubic;
  PixelScale scale;
  bool network = false;     // features instead of pixels
  double feature_norm = 0;  // to which each image's features are scaled; 0: not at all

  // [3, side, side], as a network takes it.
  models::ModelInput input() const;
};
ImagePreparation image_preparation(const json::object& options);

// Of options with `features: network`: how many random copies of a training image are in its place;
// 0: none, the image itself is.
std::int64_t copies_of_images(const json::object& options);

// The frozen network's registered name and its options, as make_model takes them.
struct FrozenNetwork {
  std::string name;
  json::object options;
};
// Of options with `features: network`. Errors name the option that is missing or unknown.
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
