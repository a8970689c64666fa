// Whether tables of a user name their features alike. Without LibTorch.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Compares two `table-file`s by their options. An error where both formats name their columns and
// the names or their order differ: a network that was trained on one knows features by their place.
Result<void> check_same_columns(const json::object& trained, const json::object& tested);

// Whether the classes and the ids of texts mean the same in both. An error where `labels` names the
// same classes in another order, where texts are cut by another tokenizer, and where one alone has
// pairs; a sentence with both where the classes have other names; else "".
Result<std::string> same_reading_note(const json::object& trained, const json::object& tested);

// SHA-256 of the names of a `table-file`'s features in their order. Empty where its format has no
// names, where its rows are texts, and where it is not here.
Result<std::string> columns_sha256(const json::object& options);

}  // namespace hyfreedp::datasets
