// A weights folder's tokenizer_config.json, of which a tokenizer follows some keys.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::datasets {

// Empty where there is no such file. An error where it is for another class than `kind` (its name
// in transformers, with or without "Fast"); an empty `kind` is any.
Result<json::object> tokenizer_config(const std::string& folder, const std::string& kind);

}  // namespace hyfreedp::datasets
