// Checks and compares the values of a weights file, without LibTorch.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/stored_tensor.h"

namespace hyfreedp::models {

// An error that names the tensor if its values are not real numbers, or one of them is infinite or
// no number, with the place of the first such. The running variance of a BatchNorm, which its name
// tells, must not be negative either. The cost is one pass over the bytes.
Result<void> check_values(const std::string& name, const StoredTensor& tensor);

// True if both have the same type, shape and values; 0 and -0 are the same.
bool are_equal(const StoredTensor& one, const StoredTensor& other);

}  // namespace hyfreedp::models
