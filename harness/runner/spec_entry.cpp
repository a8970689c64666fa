#include "harness/runner/spec_entry.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

json::value scalar(const std::string& text, bool quoted) {
  if (quoted) return json::value(text);
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == ".inf" || text == "inf") return "inf";
  if (text == "-.inf" || text == "-inf") return "-inf";
  if (text == ".nan" || text == "nan") return "nan";
  if (const auto whole = parsed<std::int64_t>(text)) return *whole;
  if (const auto real = parsed<double>(text)) return number(*real);
  return json::value(text);
}

// "where: 'name' must be ..." to "must be ...": the entry says where, and its path ends with the
// name.
std::string without_name(const std::string& message, const std::string& name) {
  const std::string quoted = "'" + name + "' ";
  const auto at = message.find(quoted);
  return at == std::string::npos ? message : message.substr(at + quoted.size());
}

// A map that was put together from others has no place of its own: that of its first key.
int first_line(const YAML::Node& node) {
  if (node.Mark().line >= 0) return node.Mark().line;
  if (!node.IsMap() || node.size() == 0) return -1;
  const auto member = node.begin();
  const int line = member->first.Mark().line;
  return line >= 0 ? line : first_line(member->second);
}

// Keeps the order of `below`; what it lacks comes after.
YAML::Node merged(const YAML::Node& below, const YAML::Node& over) {
  if (!below.IsMap() || !over.IsMap()) return over;
  YAML::Node result(YAML::NodeType::Map);
  const auto member_of = [](const YAML::Node& map, const YAML::Node& key) -> std::optional<YAML::Node> {
    for (const auto& member : map) {
      if (key.IsScalar() && member.first.IsScalar() && member.first.Scalar() == key.Scalar())
        return member.second;
    }
    return std::nullopt;
  };
  for (const auto& member : below) {
    const auto laid = member_of(over, member.first);
    result.force_insert(member.first, laid ? merged(member.second, *laid) : member.second);
  }
  for (const auto& member : over) {
    if (!member_of(below, member.first)) result.force_insert(member.first, member.second);
  }
  return result;
}

}  // namespace

Entry::Entry(const YAML::Node& node, std::string file, std::string path)
    : node_(std::make_shared<const YAML::Node>(node)), file_(std::move(file)), path_(std::move(path)) {}

Result<Entry> Entry::parse(const std::string& file, const std::string& text) {
  try {
    return Entry(YAML::Load(text), file, "");
  } catch (const YAML::Exception& exception) {
    return error(
        fmt::format("{}:{}: not valid YAML: {}.", file, std::max(exception.mark.line, 0) + 1, exception.msg));
  }
}

int Entry::line() const { return std::max(first_line(*node_), 0) + 1; }

std::string Entry::where() const {
  const auto place = fmt::format("{}:{}:", file_, line());
  return path_.empty() ? place : place + " " + path_;
}

Error Entry::wrong(const std::string& what) const {
  return error(where() + " " + what + (what.ends_with('?') || what.ends_with('.') ? "" : "."));
}

bool Entry::is_text() const {
  return node_->IsScalar() && scalar(node_->Scalar(), node_->Tag() == "!").is_string();
}

std::string Entry::shown() const {
  if (node_->IsMap()) return "a map";
  if (node_->IsSequence()) return "a list";
  return node_->IsNull() ? "nothing" : "'" + node_->Scalar() + "'";
}

Result<void> Entry::check_keys(const std::vector<std::string>* valid) const {
  if (!node_->IsMap()) return wrong("must be a map of keys and values, not " + shown());
  std::set<std::string> seen;
  for (const auto& member : *node_) {
    const Entry at(member.first, file_, path_);
    if (!member.first.IsScalar()) return at.wrong("has a key that is not text");
    const auto& key = member.first.Scalar();
    if (!seen.insert(key).second) return at.wrong("has the key '" + key + "' twice; keep one");
    if (valid != nullptr && std::find(valid->begin(), valid->end(), key) == valid->end()) {
      return error(fmt::format("{} unknown key '{}'.{} Valid keys: {}.",
                               at.where() + (path_.empty() ? "" : ":"), key, did_you_mean(key, *valid),
                               valid->empty() ? "none" : join(*valid, ", ")));
    }
  }
  return {};
}

std::vector<std::string> Entry::keys() const {
  std::vector<std::string> names;
  for (const auto& member : *node_) names.push_back(member.first.Scalar());
  return names;
}

std::optional<Entry> Entry::find(const std::string& key) const {
  if (!node_->IsMap()) return std::nullopt;
  for (const auto& member : *node_) {
    if (member.first.IsScalar() && member.first.Scalar() == key) {
      return Entry(member.second, file_, path_.empty() ? key : path_ + "." + key);
    }
  }
  return std::nullopt;
}

Result<std::vector<Entry>> Entry::list() const {
  if (!node_->IsSequence()) return wrong("must be a list, not " + shown());
  std::vector<Entry> entries;
  for (const auto& element : *node_) {
    entries.push_back(Entry(element, file_, fmt::format("{}[{}]", path_, entries.size())));
  }
  return entries;
}

Result<std::string> Entry::text() const {
  if (!node_->IsScalar()) return wrong("must be text, not " + shown());
  return node_->Scalar();
}

Result<double> Entry::number() const {
  const auto value = to_json();
  if (!value) return value.error();
  const auto parsed_number = to_double(*value, path_);
  if (!parsed_number) return wrong("must be a number, not " + shown());
  return *parsed_number;
}

Result<std::int64_t> Entry::integer() const {
  const auto value = to_json();
  if (!value) return value.error();
  if (!value->is_int64()) return wrong("must be a whole number, not " + shown());
  return value->get_int64();
}

Result<json::value> Entry::to_json() const {
  if (node_->IsScalar()) return scalar(node_->Scalar(), node_->Tag() == "!");
  if (node_->IsNull()) return json::value(nullptr);
  if (!node_->IsSequence()) return wrong("must be a value or a list of values, not " + shown());
  json::array values;
  const auto elements = list();
  for (const auto& element : *elements) {
    if (!element.node_->IsScalar()) return element.wrong("must be a value, not " + element.shown());
    values.push_back(scalar(element.node_->Scalar(), element.node_->Tag() == "!"));
  }
  return json::value(values);
}

Result<json::value> Entry::to_json_deep() const {
  if (node_->IsMap()) {
    if (auto checked = check_keys(nullptr); !checked) return checked.error();
    json::object object;
    for (const auto& key : keys()) {
      auto value = find(key)->to_json_deep();
      if (!value) return value.error();
      object[key] = std::move(*value);
    }
    return json::value(std::move(object));
  }
  if (!node_->IsSequence()) return to_json();
  json::array values;
  for (const auto& element : list().value()) {
    auto value = element.to_json_deep();
    if (!value) return value.error();
    values.push_back(std::move(*value));
  }
  return json::value(std::move(values));
}

Entry Entry::overlaid(const Entry& over) const { return {merged(*node_, *over.node_), file_, path_}; }

Entry Entry::without(const std::string& key) const {
  YAML::Node rest(YAML::NodeType::Map);
  for (const auto& member : *node_) {
    if (!member.first.IsScalar() || member.first.Scalar() != key)
      rest.force_insert(member.first, member.second);
  }
  return {rest, file_, path_};
}

Entry Entry::nested(const std::vector<std::string>& keys, const std::string& path) const {
  YAML::Node outer = *node_;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    YAML::Node map(YAML::NodeType::Map);
    map.force_insert(*key, outer);
    outer.reset(map);
  }
  return {outer, file_, path};
}

void Layers::add(const std::optional<Entry>& map) {
  if (map) maps_.push_back(*map);
}

std::optional<Entry> Layers::find(const std::string& key) const {
  for (const auto& map : maps_) {
    if (auto found = map.find(key)) return found;
  }
  return std::nullopt;
}

Layers Layers::below(const std::string& key) const {
  Layers inner;
  for (const auto& map : maps_) inner.add(map.find(key));
  return inner;
}

Result<void> Layers::check_keys(const std::vector<std::string>& valid) const {
  for (const auto& map : maps_) {
    if (auto checked = map.check_keys(&valid); !checked) return checked.error();
  }
  return {};
}

Error Layers::wrong(const std::string& what) const { return maps_.front().wrong(what); }

Result<json::object> options_from(const std::vector<OptionSpec>& table, const Layers& layers,
                                  const std::vector<std::string>& other) {
  auto valid = other;
  for (const auto& option : table) valid.push_back(option.name);
  if (auto checked = layers.check_keys(valid); !checked) return checked.error();
  json::object given;
  for (const auto& option : table) {
    const auto entry = layers.find(option.name);
    if (!entry) continue;
    const auto value = entry->to_json();
    if (!value) return value.error();
    const auto checked = resolve_options({option}, {{option.name, *value}}, "");
    if (!checked) return entry->wrong(without_name(checked.error().message, option.name));
    if (const auto* kept = checked->if_contains(option.name)) given[option.name] = *kept;
  }
  return resolve_options(table, given, "options");
}

}  // namespace hyfreedp::runner
