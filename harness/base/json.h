// JSON as the program writes it: canonical text, so that it can be hashed and compared, and a
// notation for non-finite numbers.
//
//   canonical_json     object keys sorted by byte, no white space, integers as integers, doubles as
//                      the shortest text that reads back to the same double; the same value always
//                      gives the same bytes
//   number/to_double   NaN and the infinities are the strings "nan", "inf", "-inf"
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp {

namespace json = boost::json;

std::string canonical_json(const json::value& value);
// The same with two-space indentation and a final newline, for files that people read.
std::string pretty_json(const json::value& value);

Result<json::value> parse_json(std::string_view text, const std::string& where);
Result<json::value> read_json_file(const std::string& path);

json::value number(double value);

// Typed reads of one member. `where`, the key path or file, begins the error for a missing member
// or another type.
Result<double> get_double(const json::object& object, std::string_view key, const std::string& where);
Result<std::int64_t> get_int(const json::object& object, std::string_view key, const std::string& where);
Result<std::string> get_string(const json::object& object, std::string_view key, const std::string& where);
Result<bool> get_bool(const json::object& object, std::string_view key, const std::string& where);
Result<double> to_double(const json::value& value, const std::string& where);
Result<std::int64_t> to_int(const json::value& value, const std::string& where);

// A value as an error quotes it: a long one is cut.
std::string shown(const json::value& value);

// For values that were validated before (a resolved options object): the member, or `default_value`
// if it is absent or null. Another type is an invariant violation (it throws).
double double_or(const json::object& object, std::string_view key, double default_value);
std::int64_t int_or(const json::object& object, std::string_view key, std::int64_t default_value);
bool bool_or(const json::object& object, std::string_view key, bool default_value);
std::string string_or(const json::object& object, std::string_view key, std::string default_value);

}  // namespace hyfreedp
