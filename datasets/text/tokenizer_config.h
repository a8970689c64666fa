// A weights folder's tokenizer_config.json, of which a tokenizer follows some keys.
#pragma once

#include <optional>
#include <string>

#include "harness/base/json.h"

namespace hyfreedp::datasets {

// Empty where there is no such file. An error where it is for another class than `kind` (its name
// in transformers, with or without "Fast"), of which an empty one is any; or where what a tokenizer
// reads of it has another type.
Result<json::object> tokenizer_config(const std::string& folder, const std::string& kind);

// The token under a key such as "eos_token": a text, or an object with it as "content".
std::optional<std::string> token_name(const json::object& config, const char* key);

}  // namespace hyfreedp::datasets
