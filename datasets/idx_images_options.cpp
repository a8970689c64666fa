#include "datasets/idx_images.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

Sizes all_idx_images() {
  return {.private_train = 50000, .private_validation = 10000, .test = 10000, .classes = 10};
}

Sizes idx_image_sizes(const Sizes& all, const json::object& options) {
  auto sizes = with_counts(all, options);
  const auto features = read_options<GreyImageOptions>(options).image.features;
  if (features == ImageFeatures::network) return with_image_sizes(sizes, options);
  sizes.features = features == ImageFeatures::pixels ? 784 : 716;
  if (features == ImageFeatures::pixels) sizes.image = {1, 28, 28};
  return sizes;
}

Facts with_idx_options(Facts facts, const std::vector<OptionSpec>& counts) {
  facts.options = joined(
      {facts.options,
       image_options(GreyImageOptions().image,
                     "hog: 716 fixed gradient-orientation features; pixels: the 784 pixels, each image "
                     "centred and scaled by itself; network: what a frozen network gives to its last layer"),
       counts});
  return facts;
}

Facts with_idx_images(Facts facts, const std::array<const char*, 4>& checksums) {
  for (std::size_t i = 0; i < checksums.size(); ++i) facts.files.push_back({kIdxFiles[i], checksums[i]});
  facts.sizes = [](const json::object& options) { return idx_image_sizes(all_idx_images(), options); };
  facts.complete = [](json::object options, Notes& /*notes*/) {
    return complete_image_options(std::move(options), true);
  };
  return with_idx_options(std::move(facts), count_options(all_idx_images()));
}

}  // namespace hyfreedp::datasets
