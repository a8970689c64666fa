#include "datasets/text/tokenizer_config.h"

#include <filesystem>
#include <fmt/format.h>

#include "harness/base/utf8.h"

namespace hyfreedp::datasets {

namespace {

// The keys whose values are flags. Null counts as absent.
constexpr const char* kFlags[] = {"add_bos_token", "add_eos_token", "add_prefix_space",      "do_lower_case",
                                  "legacy",        "strip_accents", "tokenize_chinese_chars"};

Result<void> check_types(const json::object& config, const std::string& where) {
  const auto wrong = [&](const char* key, const char* type, const auto& is_type) {
    const auto* value = config.if_contains(key);
    if (value == nullptr || value->is_null() || is_type(*value)) return Result<void>();
    return Result<void>(error(fmt::format("{}: '{}: {}' must be {}.", where, key, shown(*value), type)));
  };
  for (const char* key : kFlags) {
    const auto is_flag = [](const json::value& value) { return value.is_bool(); };
    if (auto ok = wrong(key, "true or false", is_flag); !ok) return ok;
  }
  const auto is_count = [](const json::value& value) { return value.is_int64(); };
  if (auto ok = wrong("extra_ids", "a whole number", is_count); !ok) return ok;
  return wrong("tokenizer_class", "a name", [](const json::value& value) { return value.is_string(); });
}

}  // namespace

Result<json::object> tokenizer_config(const std::string& folder, const std::string& kind) {
  const auto path = folder + "/tokenizer_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return json::object();
  const auto value = read_json_file(path);
  if (!value) return value.error();
  if (!value->is_object()) return error(path + ": is not an object.");
  const auto& config = value->get_object();
  if (auto checked = check_types(config, path); !checked) return checked.error();
  const auto asked = string_or(config, "tokenizer_class", kind);
  if (!kind.empty() && asked != kind && asked != kind + "Fast")
    return error(fmt::format("{}: 'tokenizer_class' is {}, and the vocabulary beside it is of {}.", path,
                             as_one_line(asked), kind));
  return config;
}

std::optional<std::string> token_name(const json::object& config, const char* key) {
  const auto* value = config.if_contains(key);
  if (value != nullptr && value->is_object()) value = value->get_object().if_contains("content");
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

}  // namespace hyfreedp::datasets
