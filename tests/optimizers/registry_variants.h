// Every registry entry with its defaults and with each option changed once, for the registry-driven
// tests.
#pragma once

#include <string>
#include <vector>

#include "optimizers/facts.h"

namespace hyfreedp::optimizers {

struct Variant {
  std::string name;
  json::object options;
  std::string label;
};

// Another legal value of the option.
inline json::value changed(const OptionSpec& option) {
  switch (option.type) {
    case OptionType::boolean:
      return !option.default_value.as_bool();
    case OptionType::integer:
      return option.default_value.as_int64() + 1;
    case OptionType::choice:
      return json::value(option.choices.back());
    case OptionType::real_list:
      return json::array{0.5, 2.0};  // one for each of the tests' two tensors
    case OptionType::real:
      break;
    case OptionType::integer_list:
      return json::array{7, 9};
    case OptionType::text:
      ADD_FAILURE() << "no variant for option " << option.name;
  }
  const double now =
      option.default_value.is_null() ? 0 : to_double(option.default_value, option.name).value();
  if (!std::isfinite(now)) return std::max(1.5, option.min);
  const double other = std::clamp(now == 0 ? 0.5 : 0.9 * now, option.min, option.max);
  return other == now ? 1.1 * now : other;
}

// What makes the option one that is read, where the defaults do not.
inline json::object needed_by(const std::vector<OptionSpec>& table, const OptionSpec& option) {
  json::object options;
  const auto& needed = option.read_with;
  for (const auto& other : table) {
    if (other.name != needed.option || needed.holds(other.default_value)) continue;
    options[other.name] = needed.rule == ReadWith::Rule::is ? json::value(needed.choice) : changed(other);
  }
  return options;
}

inline std::vector<Variant> variants(const std::vector<Facts>& table) {
  std::vector<Variant> all;
  for (const auto& facts : table) {
    all.push_back({facts.name, {}, facts.name});
    for (const auto& option : facts.options) {
      Variant variant{
          facts.name, {{option.name, changed(option)}}, facts.name + " with another " + option.name};
      // Options that need another one to mean anything.
      if (option.name == "nesterov" || option.name == "free_step") variant.options["momentum"] = 0.9;
      if (option.name == "decouple") variant.options["weight_decay"] = 0.1;
      for (const auto& [name, value] : needed_by(facts.options, option)) variant.options[name] = value;
      all.push_back(variant);
    }
  }
  return all;
}

}  // namespace hyfreedp::optimizers
