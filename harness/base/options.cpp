#include "harness/base/options.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp {
namespace {

std::string range_text(const OptionSpec& option) {
  const bool low = std::isfinite(option.min);
  const bool high = std::isfinite(option.max);
  if (low && high) return fmt::format("from {} to {}", option.min, option.max);
  if (low) return fmt::format("at least {}", option.min);
  if (high) return fmt::format("at most {}", option.max);
  return "";
}

// Writes the value as a person does: 0.9 and inf, not 9E-1 and "inf".
std::string plain_text(const json::value& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (!value.is_array()) return json::serialize(value);
  std::vector<std::string> parts;
  for (const auto& element : value.get_array()) parts.push_back(plain_text(element));
  return fmt::format("[{}]", join(parts, ", "));
}

Result<json::value> checked_number(const OptionSpec& option, const json::value& value,
                                   const std::string& where, bool whole) {
  auto parsed = to_double(value, where);
  if (!parsed) return parsed.error();
  if (std::isnan(*parsed) || *parsed < option.min || *parsed > option.max) {
    return error(fmt::format("{} must be {}, not {}", where,
                             range_text(option).empty() ? "a number" : range_text(option), *parsed));
  }
  if (!whole) return number(*parsed);
  if (*parsed != std::floor(*parsed)) {
    return error(fmt::format("{} must be a whole number, not {}", where, *parsed));
  }
  return static_cast<std::int64_t>(*parsed);
}

Result<json::value> checked(const OptionSpec& option, const json::value& value, const std::string& where) {
  if (value.is_null()) {
    if (option.default_value.is_null()) return value;
    return error(where + " must have a value");
  }
  switch (option.type) {
    case OptionType::boolean:
      if (!value.is_bool()) return error(where + " must be true or false, not " + json::serialize(value));
      return value;
    case OptionType::text:
      if (!value.is_string()) return error(where + " must be text, not " + json::serialize(value));
      return value;
    case OptionType::choice: {
      const std::string text =
          value.is_string() ? std::string(value.get_string()) : std::string(json::serialize(value));
      if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
        return error(fmt::format("{} must be one of {}, not '{}'.{}", where, join(option.choices, ", "), text,
                                 did_you_mean(text, option.choices)));
      }
      return json::value(text);
    }
    case OptionType::integer:
    case OptionType::real:
      return checked_number(option, value, where, option.type == OptionType::integer);
    case OptionType::real_list:
    case OptionType::integer_list: {
      if (!value.is_array()) return error(where + " must be a list, not " + json::serialize(value));
      json::array list;
      for (const auto& element : value.get_array()) {
        auto one = checked_number(option, element, where, option.type == OptionType::integer_list);
        if (!one) return one.error();
        list.push_back(*one);
      }
      return json::value(list);
    }
  }
  return error(where + ": unknown option type");
}

}  // namespace

std::string to_string(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "true|false";
    case OptionType::integer:
      return "integer";
    case OptionType::real:
      return "real";
    case OptionType::text:
      return "text";
    case OptionType::choice:
      return "choice";
    case OptionType::real_list:
      return "list of reals";
    case OptionType::integer_list:
      return "list of integers";
  }
  return "?";
}

bool ReadWith::holds(const json::value& value) const {
  if (rule != Rule::above) return (plain_text(value) == choice) == (rule == Rule::is);
  if (const auto* list = value.if_array()) return static_cast<double>(list->size()) > bound;
  return value.is_number() && value.to_number<double>() > bound;
}

std::string ReadWith::text(bool of_list) const {
  if (rule == Rule::is) return fmt::format("'{}: {}'", option, choice);
  if (rule == Rule::is_not) return fmt::format("another '{}' than {}", option, choice);
  if (of_list) return fmt::format("more than {} of '{}'", short_number(bound), option);
  return fmt::format("'{}' above {}", option, short_number(bound));
}

Result<json::object> resolve_options(const std::vector<OptionSpec>& table, const json::object& given,
                                     const std::string& where) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& option : table) names.push_back(option.name);
  for (const auto& member : given) {
    const std::string key(member.key());
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return error(fmt::format("{}: unknown key '{}'.{} Valid keys: {}.", where, key,
                               did_you_mean(key, names), names.empty() ? "none" : join(names, ", ")));
    }
  }
  json::object resolved;
  for (const auto& option : table) {
    const auto* value = given.if_contains(option.name);
    if (value == nullptr) {
      if (option.stored_always) resolved[option.name] = option.default_value;
      continue;
    }
    auto one = checked(option, *value, where + ": '" + option.name + "'");
    if (!one) return one.error();
    if (option.stored_always || *one != option.default_value) resolved[option.name] = *one;
  }
  for (const auto& option : table) {
    const auto& needed = option.read_with;
    const auto other = std::ranges::find(table, needed.option, &OptionSpec::name);
    const auto* value = resolved.if_contains(option.name);
    const bool is_given = value != nullptr && *value != option.default_value;
    if (needed.option.empty() || other == table.end() || !is_given) continue;
    const auto* now = resolved.if_contains(needed.option);
    if (needed.holds(now != nullptr ? *now : other->default_value)) continue;
    return error(fmt::format("{}: '{}' is read only with {}.", where, option.name,
                             needed.text(other->default_value.is_array())));
  }
  return resolved;
}

std::string describe_options(const std::vector<OptionSpec>& table) {
  std::string text;
  for (const auto& option : table) {
    std::string type = option.type == OptionType::choice ? join(option.choices, "|") : to_string(option.type);
    if (const auto range = range_text(option); !range.empty()) type += ", " + range;
    if (!option.unit.empty()) type += ", " + option.unit;
    if (const auto& needed = option.read_with; !needed.option.empty()) {
      const auto other = std::ranges::find(table, needed.option, &OptionSpec::name);
      type += ", only with " + needed.text(other != table.end() && other->default_value.is_array());
    }
    text += fmt::format("  {:<22} {}\n  {:<22} ({}; default {})\n", option.name, option.help, "", type,
                        plain_text(option.default_value));
  }
  return text;
}

}  // namespace hyfreedp
