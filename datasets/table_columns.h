// Whether two tables of a user name their features alike. Without LibTorch.
#pragma once

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Of two `table-file`s by their options. An error where both formats name their columns and the
// names or their order differ: a network that was trained on one knows features by their place.
Result<void> check_same_columns(const json::object& trained, const json::object& tested);

}  // namespace hyfreedp::datasets
