#include "harness/models/files/size_lists.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::models {

Result<std::vector<std::int64_t>> sizes_from(const json::array& given, std::size_t count, std::int64_t most,
                                             const std::string& what) {
  std::vector<std::int64_t> numbers;
  for (const auto& one : given) {
    if (one.is_int64() && one.get_int64() >= 1 && one.get_int64() <= most) {
      numbers.push_back(one.get_int64());
    }
  }
  if (numbers.size() == count && given.size() == count) return numbers;
  return error(fmt::format("{} must be {} whole numbers from 1 to {}.", what, count, most));
}

Result<const json::array*> list_at(const json::object& config, const char* key, const std::string& where) {
  const auto* found = config.if_contains(key);
  if (found == nullptr || !found->is_array())
    return error(fmt::format("{}: '{}' must be a list.", where, key));
  return &found->get_array();
}

Result<std::int64_t> square_side(const json::object& config, const char* key, std::int64_t otherwise,
                                 const std::string& where) {
  const auto* found = config.if_contains(key);
  if (found == nullptr || found->is_null()) return otherwise;
  if (found->is_int64()) return found->get_int64();
  if (const auto* pair = found->if_array();
      pair != nullptr && pair->size() == 2 && pair->at(0).is_int64() && pair->at(0) == pair->at(1)) {
    return pair->at(0).get_int64();
  }
  return error(
      fmt::format("{}: '{}' must be a whole number, or two equal ones, not {}. Only squares are read.", where,
                  key, shown(*found)));
}

bool is_kept(const json::object& config, const char* own_type) {
  const auto* const type = config.if_contains("model_type");
  return type != nullptr && *type == own_type;
}

Error unknown_architecture(const std::string& where, const std::string& architecture, const std::string& kind,
                           const std::vector<std::string>& known, const std::string& own_type) {
  return error(fmt::format(
      "{}: 'architecture' is '{}', which is no {} that is known here.{} Known: {}, and folders that this "
      "program kept ('model_type': '{}').",
      where, architecture, kind, did_you_mean(architecture, known), join(known, ", "), own_type));
}

}  // namespace hyfreedp::models
