#include "datasets/text/tokenizer_config.h"

#include <filesystem>
#include <fmt/format.h>

#include "harness/base/utf8.h"

namespace hyfreedp::datasets {

Result<json::object> tokenizer_config(const std::string& folder, const std::string& kind) {
  const auto path = folder + "/tokenizer_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return json::object();
  const auto value = read_json_file(path);
  if (!value) return value.error();
  if (!value->is_object()) return error(path + ": is not an object.");
  const auto& config = value->get_object();
  if (kind.empty() || !config.contains("tokenizer_class")) return config;
  const auto asked = get_string(config, "tokenizer_class", path);
  if (!asked) return asked.error();
  if (*asked != kind && *asked != kind + "Fast")
    return error(fmt::format("{}: 'tokenizer_class' is {}, and the vocabulary beside it is of {}.", path,
                             as_one_line(*asked), kind));
  return config;
}

std::optional<std::string> token_name(const json::object& config, const char* key) {
  const auto* value = config.if_contains(key);
  if (value != nullptr && value->is_object()) value = value->get_object().if_contains("content");
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

}  // namespace hyfreedp::datasets
