// Reads of a resolved options object (every key present, types checked by resolve_options).
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers {

inline double real(const json::object& options, std::string_view name) {
  return to_double(options.at(name), std::string(name)).value();
}
inline double real_or(const json::object& options, std::string_view name, double when_absent) {
  return options.at(name).is_null() ? when_absent : real(options, name);
}
inline std::int64_t integer(const json::object& options, std::string_view name) {
  return options.at(name).to_number<std::int64_t>();
}
inline bool flag(const json::object& options, std::string_view name) { return options.at(name).as_bool(); }
inline std::string text(const json::object& options, std::string_view name) {
  return std::string(options.at(name).as_string());
}
inline std::vector<double> reals(const json::object& options, std::string_view name) {
  std::vector<double> values;
  for (const auto& value : options.at(name).as_array())
    values.push_back(to_double(value, std::string(name)).value());
  return values;
}

}  // namespace hyfreedp::optimizers
