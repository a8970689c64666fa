// Generated examples in classes; the generated datasets of vectors and of images share this.
//
//   label     uniform over the classes
//   features  the class's mean plus standard normal noise, float32
// An example is a function of (key, split, row) alone. The streams have the lanes 0 for the means,
// which the caller draws, 1 for labels and 2 for noise.
#pragma once

#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {

// The address of the stream from which means are drawn.
random::Address means_address();

// An error if the sizes need more than a few gigabytes; `options` names the options to lower.
Result<void> check_amount(const Sizes& sizes, const std::string& dataset, const std::string& options);

// The dataset for `means`, [classes, features] in row-major order.
Dataset gaussian_classes(const random::Key& key, const Sizes& sizes, const std::vector<double>& means);

}  // namespace hyfreedp::datasets
