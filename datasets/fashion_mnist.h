// Fashion-MNIST: 60,000 + 10,000 grey 28 x 28 images of clothes in 10 classes
// (Xiao, Rasul, Vollgraf, arXiv:1708.07747).
//
// private_train is the first 50,000 images of the training file, private_validation its last
// 10,000, test the test file. The source files' checksums are verified when the feature cache is
// made, and not at each start.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_fashion_mnist(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
