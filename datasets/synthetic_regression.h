// Linear regression from a fixed random stream (Mohapatra et al., arXiv:2111.04906, section 4.1).
// The dataset needs no file and contains nobody's data.
//
//   features  uniform in [0, 1), float32
//   label     weight * (sum of the features), exact but for rounding to float32; no noise
//
// An example is a function of (split, row) alone, so a longer split begins with the shorter one.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic_regression(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
