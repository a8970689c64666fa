#include "datasets/synthetic_images.h"

#include <cmath>
#include <vector>

#include "datasets/gaussian_classes.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kCell = 4;  // pixels a side

random::Key key() { return random::key_from_seed("dataset synthetic-images, version 1"); }

// [classes, features]
std::vector<double> patterns(const Sizes& sizes, double contrast) {
  const auto [channels, rows, columns] = sizes.image;
  const auto across = (columns + kCell - 1) / kCell;
  const auto cells = (rows + kCell - 1) / kCell * across;
  std::vector<double> values(static_cast<std::size_t>(sizes.classes * channels * cells));
  random::fill_normals(key(), means_address(), 0, values);
  std::vector<double> all;
  for (std::int64_t k = 0; k < sizes.classes; ++k) {
    const auto begin = all.size();
    double squares = 0.0;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
          const auto cell = (k * channels + c) * cells + y / kCell * across + x / kCell;
          all.push_back(values[static_cast<std::size_t>(cell)]);
          squares += all.back() * all.back();
        }
      }
    }
    const double scale = contrast / std::sqrt(squares / static_cast<double>(sizes.features));
    for (auto i = begin; i < all.size(); ++i) all[i] *= scale;
  }
  return all;
}

}  // namespace

Result<Dataset> SyntheticImages::load(const Facts& /*facts*/, const json::object& options) {
  const Sizes n = sizes(options);
  if (auto fits = check_amount(n, "synthetic-images", "train, validation, test, channels or side"); !fits) {
    return fits.error();
  }
  const auto means = patterns(n, read_options<SyntheticImagesOptions>(options).contrast);
  return gaussian_classes(key(), n, means);
}

}  // namespace hyfreedp::datasets
