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

struct Synthetic {
  static Facts facts() {
    return generated(
        {.name = "synthetic",
         .title = "Gaussian classes",
         .options = {integer_option("classes", 3, 2, 1000, "number of classes"),
                     integer_option("features", 16, 1, 1e5, "length of an example"),
                     real_option("separation", 3.0, 0, 1e3, "distance of each class's mean from the origin",
                                 "sd within a class")},
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    auto sizes = generated_sizes(options);
    sizes.classes = int_or(options, "classes", 3);
    sizes.features = int_or(options, "features", 16);
    return sizes;
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
