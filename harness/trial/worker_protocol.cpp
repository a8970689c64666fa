#include "harness/trial/worker_protocol.h"

#include <array>
#include <cmath>

namespace hyfreedp::trial {
namespace {

constexpr std::array kTexts = {"type",        "trial",   "journal",         "key",
                               "checkpoints", "weights", "commit",          "version",
                               "state",       "kind",    "weights_problem", "checkpoint_problem",
                               "message"};
constexpr std::array kWholeNumbers = {"attempts", "step", "steps", "moves"};
constexpr std::array kNumbers = {"checkpoint_seconds", "seconds", "cpu_seconds", "peak_bytes",
                                 "device_bytes"};

template <class Check>
Result<void> check_each(const json::object& message, const auto& names, Check&& check) {
  for (const char* name : names) {
    const auto* found = message.if_contains(name);
    if (found == nullptr || found->is_null()) continue;
    if (auto checked = check(name); !checked) return checked;
  }
  return {};
}

Result<void> check_text(const json::object& object, const char* name, const std::string& where) {
  const auto text = get_string(object, name, where);
  return text ? Result<void>{} : text.error();
}

Result<void> check_types(const json::object& message, const std::string& where) {
  if (auto texts =
          check_each(message, kTexts, [&](const char* name) { return check_text(message, name, where); });
      !texts) {
    return texts;
  }
  auto whole = check_each(message, kWholeNumbers, [&](const char* name) -> Result<void> {
    const auto number = get_int(message, name, where);
    return number ? Result<void>{} : number.error();
  });
  if (!whole) return whole;
  return check_each(message, kNumbers, [&](const char* name) -> Result<void> {
    const auto number = get_double(message, name, where);
    if (!number) return number.error();
    if (!std::isfinite(*number)) return error(where + ": '" + name + "' must be finite");
    return {};
  });
}

}  // namespace

Result<json::object> parse_message(std::string_view line, const std::string& where) {
  auto value = parse_json(line, where);
  if (!value) return value.error();
  if (!value->is_object()) return error(where + ": a message must be a JSON object");
  auto& message = value->get_object();
  if (const auto type = get_string(message, "type", where); !type) return type.error();
  if (auto checked = check_types(message, where); !checked) return checked.error();
  const auto* dataset = message.if_contains("dataset");
  if (dataset != nullptr && dataset->is_object() && dataset->get_object().contains("name")) {
    if (auto checked = check_text(dataset->get_object(), "name", where + ": dataset"); !checked)
      return checked.error();
  }
  return std::move(message);
}

}  // namespace hyfreedp::trial
