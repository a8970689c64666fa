// Sizes in a model's options and in the config.json of its weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::models {

// `count` whole numbers from 1 to `most`. The error begins with `what`, which names the list.
Result<std::vector<std::int64_t>> sizes_from(const json::array& given, std::size_t count, std::int64_t most,
                                             const std::string& what);
// The list under a key. The error begins with `where`.
Result<const json::array*> list_at(const json::object& config, const char* key, const std::string& where);

// The side of a square, as timm has it: a number, or two equal ones. `otherwise` without the key.
Result<std::int64_t> square_side(const json::object& config, const char* key, std::int64_t otherwise,
                                 const std::string& where);

// True if a config.json is of a folder that this program kept, whose 'model_type' is `own_type`.
bool is_kept(const json::object& config, const char* own_type);

// The refusal of a config.json whose 'architecture' is none of `known`, of a network that is called
// `kind`; `own_type` is the 'model_type' of folders that this program kept.
Error unknown_architecture(const std::string& where, const std::string& architecture, const std::string& kind,
                           const std::vector<std::string>& known, const std::string& own_type);

}  // namespace hyfreedp::models
