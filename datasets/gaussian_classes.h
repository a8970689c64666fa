// Generated examples in classes, which the generated datasets of vectors and of images share.
//
//   label     uniform over the classes
//   features  the class's mean plus standard normal noise, float32
// A function of (key, split, row) alone. The streams' lanes: 0 for the means, which the caller draws, 1 labels, 2 noise.
#pragma once

#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {

// Of the stream that means are made from.
random::Address means_address();

// An error where more numbers are asked for than fit in a few gigabytes; `options` says which to lower.
Result<void> check_amount(const Sizes& sizes, const std::string& dataset, const std::string& options);

// `means` [classes, features].
Dataset gaussian_classes(const random::Key& key, const Sizes& sizes, const std::vector<double>& means);

}  // namespace hyfreedp::datasets
