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

struct SyntheticImagesOptions {
  std::int64_t classes = 4, channels = 3, side = 16;
  double contrast = 0.5;
};
BOOST_DESCRIBE_STRUCT(SyntheticImagesOptions, (), (classes, channels, side, contrast))

struct SyntheticImages {
  static Facts facts() {
    return generated({.name = "synthetic-images",
                      .title = "Generated images",
                      .options = options_of<SyntheticImagesOptions>(
                          {ranged_option("classes", 2, 1000, "number of classes"),
                           ranged_option("channels", 1, 1024, "of an image"),
                           ranged_option("side", 1, 4096, "pixels, of a square image"),
                           ranged_option("contrast", 0, 1e3, "root mean square of a class's pattern",
                                         "sd of a pixel within a class")}),
                      .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    const auto own = read_options<SyntheticImagesOptions>(options);
    return generated_sizes({.classes = own.classes,
                            .features = own.channels * own.side * own.side,
                            .image = {own.channels, own.side, own.side}},
                           options);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
