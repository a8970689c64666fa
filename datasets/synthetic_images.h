// Generated images in classes, for tests and smoke runs. The dataset needs no file and contains
// nobody's data.
//
// An image of class k is pattern k plus standard normal pixels. Pattern k has independent normals
// in cells of 4 x 4 pixels, scaled to the root mean square `contrast`. Classes are uniform. As in
// photographs, what distinguishes classes is coarse and local, so that patches and small filters
// find it.
//
// Example i of a split depends on the options classes, channels, side and contrast and on i alone.
// It has no seed on purpose.
#pragma once

#include "datasets/generated.h"

namespace hyfreedp::datasets {

struct SyntheticImages {
  static Facts facts() {
    return generated(
        {.name = "synthetic-images",
         .title = "Generated images",
         .options = {integer_option("classes", 4, 2, 1000, "number of classes"),
                     integer_option("channels", 3, 1, 1024, "of an image"),
                     integer_option("side", 16, 1, 4096, "pixels, of a square image"),
                     real_option("contrast", 0.5, 0, 1e3, "root mean square of a class's pattern",
                                 "sd of a pixel within a class")},
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    auto sizes = generated_sizes(options);
    const auto side = int_or(options, "side", 16);
    sizes.classes = int_or(options, "classes", 4);
    sizes.image = {int_or(options, "channels", 3), side, side};
    sizes.features = sizes.image[0] * side * side;
    return sizes;
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
