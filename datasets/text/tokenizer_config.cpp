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
  const auto asked = string_or(value->get_object(), "tokenizer_class", kind);
  if (asked != kind && asked != kind + "Fast")
    return error(fmt::format("{}: 'tokenizer_class' is {}, and the vocabulary beside it is of {}.", path,
                             as_one_line(asked), kind));
  return value->get_object();
}

}  // namespace hyfreedp::datasets
