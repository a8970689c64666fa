#include "harness/base/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "harness/base/files.h"

namespace hyfreedp {
namespace {

void write_double(std::string& out, double value) {
  HYFREEDP_CHECK(std::isfinite(value), "a non-finite number reached the JSON writer; use number()");
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out += text;
  // "1" would read back as an integer; keep doubles recognisable.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// Boost's serializer is an object of its own for each value, which is most of the time of a short
// text. It escapes what the test here does not let through.
void write_text(std::string& out, json::string_view text) {
  const bool is_plain =
      std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (is_plain) {
    ((out += '"') += std::string_view(text)) += '"';
  } else {
    out += json::serialize(json::value(text));
  }
}

void write_whole(std::string& out, auto value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void write(std::string& out, const json::value& value, int indent) {
  const bool pretty = indent >= 0;
  const auto newline = [&](int level) {
    if (pretty) out += '\n' + std::string(static_cast<std::size_t>(2 * level), ' ');
  };
  switch (value.kind()) {
    case json::kind::object: {
      std::vector<const json::key_value_pair*> members;
      for (const auto& member : value.get_object()) members.push_back(&member);
      std::sort(members.begin(), members.end(),
                [](const auto* a, const auto* b) { return a->key() < b->key(); });
      out += '{';
      bool first = true;
      for (const auto* member : members) {
        if (!first) out += ',';
        first = false;
        newline(indent + 1);
        write_text(out, member->key());
        out += pretty ? ": " : ":";
        write(out, member->value(), pretty ? indent + 1 : indent);
      }
      if (!members.empty()) newline(indent);
      out += '}';
      break;
    }
    case json::kind::array: {
      out += '[';
      bool first = true;
      for (const auto& element : value.get_array()) {
        if (!first) out += pretty ? ", " : ",";
        first = false;
        write(out, element, pretty ? indent + 1 : indent);
      }
      out += ']';
      break;
    }
    case json::kind::double_:
      write_double(out, value.get_double());
      break;
    case json::kind::string:
      write_text(out, value.get_string());
      break;
    case json::kind::int64:
      write_whole(out, value.get_int64());
      break;
    case json::kind::uint64:
      write_whole(out, value.get_uint64());
      break;
    default:
      out += json::serialize(value);
  }
}

// Builds the value like boost::json::parse, but reads each double from its text by std::from_chars:
// Boost 1.81's own reader is off by a bit for one double in ten, and hashes and seeded rows need
// the very value that was written.
class ExactHandler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    keys_.emplace_back();
    return true;
  }
  // A key that is there twice would silently count once; which of its values is meant nobody can
  // know.
  bool on_object_end(std::size_t n, json::error_code& code) {
    auto& keys = keys_.back();
    std::sort(keys.begin(), keys.end());
    if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end()) {
      doubled_key_ = *twice;
      code = json::error::syntax;
      return false;
    }
    keys_.pop_back();
    return stack_.push_object(n), true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t n, json::error_code&) { return stack_.push_array(n), true; }
  bool on_key_part(json::string_view s, std::size_t, json::error_code&) {
    key_.append(s.data(), s.size());
    return stack_.push_chars(s), true;
  }
  bool on_key(json::string_view s, std::size_t, json::error_code&) {
    key_.append(s.data(), s.size());
    keys_.back().push_back(std::move(key_));
    key_.clear();
    return stack_.push_key(s), true;
  }
  bool on_string_part(json::string_view s, std::size_t, json::error_code&) {
    return stack_.push_chars(s), true;
  }
  bool on_string(json::string_view s, std::size_t, json::error_code&) { return stack_.push_string(s), true; }
  bool on_number_part(json::string_view s, json::error_code&) {
    number_.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, json::string_view, json::error_code&) {
    number_.clear();
    return stack_.push_int64(i), true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, json::error_code&) {
    number_.clear();
    return stack_.push_uint64(u), true;
  }
  bool on_double(double rounded, json::string_view s, json::error_code&) {
    number_.append(s.data(), s.size());
    double value = 0;
    const auto read = std::from_chars(number_.data(), number_.data() + number_.size(), value);
    // beyond the range: 0 or infinity
    stack_.push_double(read.ec == std::errc() ? value : rounded);
    number_.clear();
    return true;
  }
  bool on_bool(bool b, json::error_code&) { return stack_.push_bool(b), true; }
  bool on_null(json::error_code&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  json::value release() { return stack_.release(); }
  const std::optional<std::string>& doubled_key() const { return doubled_key_; }
  ExactHandler() { stack_.reset(); }

 private:
  json::value_stack stack_;
  std::string number_;
  std::string key_;
  std::vector<std::vector<std::string>> keys_;  // of the open objects
  std::optional<std::string> doubled_key_;
};

Error wrong_type(const std::string& where, std::string_view key, const char* wanted,
                 const json::value& value) {
  return error(where + ": '" + std::string(key) + "' must be " + wanted + ", not " + shown(value));
}

Result<const json::value*> member(const json::object& object, std::string_view key,
                                  const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr) return error(where + ": '" + std::string(key) + "' is missing");
  return found;
}

}  // namespace

std::string canonical_json(const json::value& value) {
  std::string out;
  write(out, value, std::numeric_limits<int>::min());
  return out;
}

std::string pretty_json(const json::value& value) {
  std::string out;
  write(out, value, 0);
  return out + '\n';
}

Result<json::value> parse_json(std::string_view text, const std::string& where) {
  boost::system::error_code code;
  json::basic_parser<ExactHandler> parser(json::parse_options{});
  const auto used = parser.write_some(false, text.data(), text.size(), code);
  if (!code && used < text.size()) code = json::error::extra_data;
  if (code) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(used), '\n');
    const auto& doubled = parser.handler().doubled_key();
    return error(where + ": not valid JSON (" +
                 (doubled ? "'" + *doubled + "' is given twice" : code.message()) + " in line " +
                 std::to_string(line) + ")");
  }
  return parser.handler().release();
}

Result<json::value> read_json_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  return parse_json(*text, path);
}

std::string shown(const json::value& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_double() && std::isfinite(value.get_double())) return canonical_json(value);
  auto text = json::serialize(value);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  return text;
}

json::value number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Result<double> to_double(const json::value& value, const std::string& where) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_string()) {
    const std::string_view text = value.get_string();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return error(where + " must be a number, not " + shown(value));
}

Result<std::int64_t> to_int(const json::value& value, const std::string& where) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= std::uint64_t(std::numeric_limits<std::int64_t>::max())) {
    return static_cast<std::int64_t>(value.get_uint64());
  }
  if (value.is_double() && value.get_double() == std::floor(value.get_double()) &&
      std::abs(value.get_double()) < 9e15) {
    return static_cast<std::int64_t>(value.get_double());
  }
  return error(where + " must be a whole number, not " + shown(value));
}

Result<double> get_double(const json::object& object, std::string_view key, const std::string& where) {
  auto found = member(object, key, where);
  if (!found) return found.error();
  return to_double(**found, where + ": '" + std::string(key) + "'");
}

Result<std::int64_t> get_int(const json::object& object, std::string_view key, const std::string& where) {
  auto found = member(object, key, where);
  if (!found) return found.error();
  return to_int(**found, where + ": '" + std::string(key) + "'");
}

Result<std::string> get_string(const json::object& object, std::string_view key, const std::string& where) {
  auto found = member(object, key, where);
  if (!found) return found.error();
  if (!(**found).is_string()) return wrong_type(where, key, "text", **found);
  return std::string((**found).get_string());
}

Result<bool> get_bool(const json::object& object, std::string_view key, const std::string& where) {
  auto found = member(object, key, where);
  if (!found) return found.error();
  if (!(**found).is_bool()) return wrong_type(where, key, "true or false", **found);
  return (**found).get_bool();
}

double double_or(const json::object& object, std::string_view key, double default_value) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return default_value;
  return to_double(*found, std::string(key)).value();
}

std::int64_t int_or(const json::object& object, std::string_view key, std::int64_t default_value) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return default_value;
  return get_int(object, key, "options").value();
}

bool bool_or(const json::object& object, std::string_view key, bool default_value) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return default_value;
  return get_bool(object, key, "options").value();
}

std::string string_or(const json::object& object, std::string_view key, std::string default_value) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return default_value;
  return get_string(object, key, "options").value();
}

}  // namespace hyfreedp
