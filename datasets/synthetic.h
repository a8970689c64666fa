// Gaussian classes from a fixed random stream, for tests and smoke runs. The dataset needs no file
// and contains nobody's data.
//
//   class k has mean separation * m_k, m_k uniform on the unit sphere; x = mean + standard normal;
//   y uniform
//
// Example i of a split depends on the options classes, features and separation and on i alone, so a
// longer split begins with the shorter one. Means and examples have no seed on purpose, so that
// they are the same everywhere.
#pragma once

#include "datasets/generated.h"

namespace hyfreedp::datasets {

struct SyntheticOptions {
  std::int64_t classes = 3, features = 16;
  double separation = 3;
};
BOOST_DESCRIBE_STRUCT(SyntheticOptions, (), (classes, features, separation))

struct Synthetic {
  static Facts facts() {
    return generated(
        {.name = "synthetic",
         .title = "Gaussian classes",
         .options = options_of<SyntheticOptions>(
             {ranged_option("classes", 2, 1000, "number of classes"),
              ranged_option("features", 1, 1e5, "length of an example"),
              ranged_option("separation", 0, 1e3, "distance of each class's mean from the origin",
                            "sd within a class")}),
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    const auto own = read_options<SyntheticOptions>(options);
    return generated_sizes({.classes = own.classes, .features = own.features}, options);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
