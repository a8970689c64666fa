// The files that a dataset was defined on, told apart from others of the same name.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Each file of the dataset in `folder` has the SHA-256 of its facts; an error names the first that has not.
Result<void> verify_files(const Facts& facts, const std::string& folder);

}  // namespace hyfreedp::datasets
