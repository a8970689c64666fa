// Linear regression from a fixed random stream (Mohapatra et al., arXiv:2111.04906, section 4.1).
// The dataset needs no file and contains nobody's data.
//
//   features  uniform in [0, 1), float32
//   label     weight * (sum of the features), exact but for rounding to float32; no noise
//
// An example is a function of (split, row) alone, so a longer split begins with the shorter one.
#pragma once

#include "datasets/generated.h"

namespace hyfreedp::datasets {

struct SyntheticRegression {
  static Facts facts() {
    return generated(
        {.name = "synthetic-regression",
         .title = "Generated linear regression",
         .options = {integer_option("features", 10, 1, 1e5, "length of an example, uniform in [0, 1)"),
                     real_option("weight", 10.0, 0, 1e6, "of every feature in the label")},
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    auto sizes = generated_sizes(options);
    sizes.classes = 1;
    sizes.features = int_or(options, "features", 10);
    sizes.labels = LabelKind::real;
    return sizes;
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
