#include "datasets/synthetic.h"

#include <cmath>
#include <vector>

#include "datasets/gaussian_classes.h"

namespace hyfreedp::datasets {
namespace {

random::Key key() { return random::key_from_seed("dataset synthetic, version 1"); }

// [classes, features], each row of norm `length`.
std::vector<double> class_means(std::int64_t classes, std::int64_t features, double length) {
  const auto columns = static_cast<std::size_t>(features);
  std::vector<double> means(static_cast<std::size_t>(classes) * columns);
  random::fill_normals(key(), means_address(), 0, means);
  for (std::size_t row = 0; row < means.size(); row += columns) {
    double squares = 0.0;
    for (std::size_t i = 0; i < columns; ++i) squares += means[row + i] * means[row + i];
    for (std::size_t i = 0; i < columns; ++i) means[row + i] *= length / std::sqrt(squares);
  }
  return means;
}

}  // namespace

Result<Dataset> Synthetic::load(const Facts& /*facts*/, const json::object& options) {
  const Sizes n = sizes(options);
  if (auto fits = check_amount(n, "synthetic", "train, validation, test or features"); !fits)
    return fits.error();
  const auto means = class_means(n.classes, n.features, read_options<SyntheticOptions>(options).separation);
  return gaussian_classes(key(), n, means);
}

}  // namespace hyfreedp::datasets
