// Checks that a dataset's files are those that it was defined on.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Checks the SHA-256 of each file of the dataset in `folder` against its facts. The error names the
// first file that differs.
Result<void> verify_files(const Facts& facts, const std::string& folder);

}  // namespace hyfreedp::datasets
