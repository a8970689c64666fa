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

struct SyntheticRegressionOptions {
  std::int64_t features = 10;
  double weight = 10;
};
BOOST_DESCRIBE_STRUCT(SyntheticRegressionOptions, (), (features, weight))

struct SyntheticRegression {
  static Facts facts() {
    return generated({.name = "synthetic-regression",
                      .title = "Generated linear regression",
                      .options = options_of<SyntheticRegressionOptions>(
                          {ranged_option("features", 1, 1e5, "length of an example, uniform in [0, 1)"),
                           ranged_option("weight", 0, 1e6, "of every feature in the label")}),
                      .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    const auto features = read_options<SyntheticRegressionOptions>(options).features;
    return generated_sizes({.classes = 1, .features = features, .labels = LabelKind::real}, options);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
