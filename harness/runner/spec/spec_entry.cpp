#include "harness/runner/spec/spec_entry.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "harness/base/text.h"
#include "harness/runner/spec/mistakes/spec_examples.h"
#include "harness/runner/spec/spec_levels.h"

namespace hyfreedp::runner {
namespace {

using Kind = YamlNode::Kind;

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

json::value scalar_of(const YamlNode& node) {
  const auto& text = node.scalar;
  if (node.quoted) return json::value(text);
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

// A map or list that was put together from others has no place of its own: that of its first key or
// element.
int first_line(const YamlNode& node) {
  if (node.line >= 0) return node.line;
  if (!node.elements.empty()) return first_line(*node.elements.front());
  if (node.members.empty()) return -1;
  const auto& [key, value] = node.members.front();
  return key->line >= 0 ? key->line : first_line(*value);
}

bool is_key(const YamlNode& key, const std::string& name) {
  return key.is(Kind::scalar) && key.scalar == name;
}

// The value of a map's first such key; null: none.
YamlNode::Ref member_of(const YamlNode& map, const std::string& name) {
  for (const auto& [key, value] : map.members) {
    if (is_key(*key, name)) return value;
  }
  return nullptr;
}

YamlNode::Ref node_of(YamlNode node) { return std::make_shared<const YamlNode>(std::move(node)); }

// Keeps the order of `below`; what it lacks comes after.
YamlNode::Ref merged(const YamlNode::Ref& below, const YamlNode::Ref& over) {
  if (!below->is(Kind::map) || !over->is(Kind::map)) return over;
  YamlNode result{.kind = Kind::map};
  const auto laid_over = [](const YamlNode& map, const YamlNode& key) {
    return key.is(Kind::scalar) ? member_of(map, key.scalar) : nullptr;
  };
  for (const auto& [key, value] : below->members) {
    const auto laid = laid_over(*over, *key);
    result.members.emplace_back(key, laid ? merged(value, laid) : value);
  }
  for (const auto& [key, value] : over->members) {
    if (!laid_over(*below, *key)) result.members.emplace_back(key, value);
  }
  return node_of(std::move(result));
}

// Returns the example that the spec's documentation shows at a path, else the option's own default.
std::string example_of_option(const OptionSpec& option, const std::string& path) {
  const auto documented = example_at(path);
  return documented.empty() ? example_line(option) : documented;
}

// Returns the example of `key` in the map at `path`; that of the map if there is none, or no key.
std::string example_of_key(const std::string& key, const std::string& path,
                           const std::vector<OptionSpec>* options) {
  if (key.empty()) return example_at(path);
  const auto inner = path.empty() ? key : path + "." + key;
  if (options != nullptr) {
    for (const auto& option : *options) {
      if (option.name == key) return example_of_option(option, inner);
    }
  }
  const auto example = example_at(inner);
  return example.empty() ? example_at(path) : example;
}

}  // namespace

int Texts::add(const std::string& name, const std::string& text, bool has_lines) {
  const int begin = lines_;
  texts_.push_back({.name = name, .begin = begin, .has_lines = has_lines});
  lines_ += 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  return begin;
}

const Texts::Text& Texts::at(int line) const {
  const auto after = std::ranges::upper_bound(texts_, line, {}, &Text::begin);
  return *std::prev(after);
}

const std::string& Texts::name_at(int line) const { return at(line).name; }

std::string Texts::place_at(int line) const {
  const auto& text = at(line);
  return text.has_lines ? fmt::format("{}:{}", text.name, line - text.begin + 1) : text.name;
}

Result<Entry> Entry::parse(const std::string& file, const std::string& text) {
  return parse_into(std::make_shared<Texts>(), file, text, true);
}

Result<Entry> Entry::parse_further(const std::string& file, const std::string& text) const {
  return parse_into(texts_, file, text, true);
}

Result<Entry> Entry::parse_argument(const std::string& name, const std::string& text) const {
  return parse_into(texts_, name, text, false);
}

Result<Entry> Entry::parse_into(std::shared_ptr<Texts> texts, const std::string& name,
                                const std::string& text, bool has_lines) {
  if (auto checked = check_encoding(name, text, has_lines); !checked) return checked.error();
  const int begin = texts->add(name, text, has_lines);
  auto node = load_yaml(*texts, text, begin);
  if (!node) return node.error();
  return Entry(std::move(*node), std::move(texts), "");
}

int Entry::line() const { return std::max(first_line(*node_), 0); }

const std::string& Entry::file() const { return texts_->name_at(line()); }

std::string Entry::place() const { return texts_->place_at(line()); }

std::string Entry::where() const { return place() + (path_.empty() ? ":" : ": " + path_); }

Error Entry::wrong(const std::string& what, const std::string& example) const {
  const auto message = where() + " " + what + (what.ends_with('?') || what.ends_with('.') ? "" : ".");
  return error(example.empty() ? message : fmt::format("{} Example: `{}`.", message, example));
}

Error Entry::wrong(const std::string& what) const { return wrong(what, example_at(path_)); }

Error Entry::wrong_inside(const std::string& what, const std::string& example) const {
  return path_.empty() ? wrong(what, example) : Entry(node_, texts_, path_ + ":").wrong(what, example);
}

Error Entry::wrong(const Error& found) const {
  auto message = found.message;
  if (!path_.empty()) message = ": " + message;
  if (!message.ends_with('?') && !message.ends_with('.')) message += '.';
  const auto example = example_at(path_);
  if (!example.empty()) message += fmt::format(" Example: `{}`.", example);
  return error(where() + message);
}

Error Entry::remark(const std::string& text) const {
  return error(fmt::format("{}: {}", texts_->place_at(line()), text));
}

void Entry::need(const std::string& key, Problems& problems) const {
  if (problems.is_misspelt(path_, key)) return;
  problems.add(wrong_inside("'" + key + "' is missing", example_at(path_.empty() ? key : path_ + "." + key)));
}

bool Entry::is_text() const { return node_->is(Kind::scalar) && scalar_of(*node_).is_string(); }

std::string Entry::shown() const {
  if (is_map()) return "a map";
  if (is_list()) return "a list";
  return is_null() ? "nothing" : "'" + node_->scalar + "'";
}

bool Entry::check_keys(const std::vector<std::string>* valid, Problems& problems,
                       const std::vector<OptionSpec>* options) const {
  if (!is_map()) {
    problems.add(wrong("must be a map of keys and values, not " + shown()));
    return false;
  }
  std::set<std::string> seen;
  for (const auto& [name, value] : node_->members) {
    // A key that a command line names was written with its value.
    const Entry at(name->line >= 0 ? name : value, texts_, path_);
    if (!name->is(Kind::scalar)) {
      problems.add(at.wrong("has a key that is not text"));
      continue;
    }
    const auto& key = name->scalar;
    if (!seen.insert(key).second) problems.add(at.wrong("has the key '" + key + "' twice; keep one", ""));
    if (valid == nullptr || std::find(valid->begin(), valid->end(), key) != valid->end()) continue;
    if (const auto level = right_level(key, path_)) {
      problems.note_misspelt(level->path, key);
      problems.add(at.wrong_inside("'" + key + "' belongs " + level->where, level->example));
      continue;
    }
    const auto nearest = nearest_name(key, *valid);
    problems.note_misspelt(path_, nearest);
    const auto what = fmt::format("unknown key '{}'.{} Valid keys: {}", key, did_you_mean(key, *valid),
                                  valid->empty() ? "none" : join(*valid, ", "));
    problems.add(at.wrong_inside(what, example_of_key(nearest, path_, options)));
  }
  return true;
}

std::vector<std::string> Entry::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : node_->members) {
    if (key->is(Kind::scalar)) names.push_back(key->scalar);
  }
  return names;
}

std::optional<Entry> Entry::find(const std::string& key) const {
  const auto value = member_of(*node_, key);
  if (!value) return std::nullopt;
  return Entry(value, texts_, path_.empty() ? key : path_ + "." + key);
}

Result<std::vector<Entry>> Entry::list() const {
  if (!is_list()) return wrong("must be a list, not " + shown());
  std::vector<Entry> entries;
  for (const auto& element : node_->elements) {
    entries.push_back(Entry(element, texts_, fmt::format("{}[{}]", path_, entries.size())));
  }
  return entries;
}

Result<std::string> Entry::written() const {
  if (!node_->is(Kind::scalar)) return wrong("must be text, not " + shown());
  return node_->scalar;
}

Result<std::string> Entry::text() const {
  auto text = written();
  if (text && scalar_of(*node_).is_bool()) {
    return wrong(fmt::format("must be text, not {}; where the word is meant, put it in quotes", *text));
  }
  return text;
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
  if (node_->is(Kind::scalar)) return scalar_of(*node_);
  if (is_null()) return json::value(nullptr);
  if (!is_list()) return wrong("must be a value or a list of values, not " + shown());
  json::array values;
  const auto elements = list();
  for (const auto& element : *elements) {
    if (!element.node_->is(Kind::scalar)) return element.wrong("must be a value, not " + element.shown());
    values.push_back(scalar_of(*element.node_));
  }
  return json::value(values);
}

Entry Entry::overlaid(const Entry& over) const { return {merged(node_, over.node_), texts_, path_}; }

Entry Entry::without(const std::string& key) const {
  YamlNode rest{.kind = Kind::map};
  for (const auto& member : node_->members) {
    if (!is_key(*member.first, key)) rest.members.push_back(member);
  }
  return {node_of(std::move(rest)), texts_, path_};
}

Entry Entry::with(const std::string& key, const Entry& value) const {
  YamlNode map{.kind = Kind::map, .members = node_->members};
  bool known = false;
  for (auto& [name, kept] : map.members) {
    if (!is_key(*name, key)) continue;
    kept = value.node_;
    known = true;
  }
  if (!known) map.members.emplace_back(node_of({.kind = Kind::scalar, .scalar = key}), value.node_);
  return {node_of(std::move(map)), texts_, path_};
}

Entry Entry::with(std::size_t index, const Entry& value) const {
  YamlNode list{.kind = Kind::list, .elements = node_->elements};
  list.elements[index] = value.node_;
  return {node_of(std::move(list)), texts_, path_};
}

Entry Entry::nested(const std::vector<std::string>& keys, const std::string& path) const {
  auto outer = node_;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    YamlNode map{.kind = Kind::map};
    map.members.emplace_back(node_of({.kind = Kind::scalar, .scalar = *key}), outer);
    outer = node_of(std::move(map));
  }
  return {outer, texts_, path};
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

void Layers::check_keys(const std::vector<std::string>& valid, Problems& problems,
                        const std::vector<OptionSpec>* options) const {
  for (const auto& map : maps_) map.check_keys(&valid, problems, options);
}

Error Layers::wrong(const std::string& what) const { return maps_.front().wrong(what); }

void Layers::need(const std::string& key, Problems& problems) const {
  for (const auto& map : maps_) {
    if (problems.is_misspelt(map.path(), key)) return;
  }
  maps_.front().need(key, problems);
}

std::optional<json::object> options_from(const std::vector<OptionSpec>& table, const Layers& layers,
                                         Problems& problems, const std::vector<std::string>& other) {
  const auto before = problems.added();
  auto valid = other;
  for (const auto& option : table) valid.push_back(option.name);
  layers.check_keys(valid, problems, &table);
  auto options = known_options(table, layers, problems);
  if (problems.added() > before) return std::nullopt;
  return options;
}

std::optional<json::object> known_options(const std::vector<OptionSpec>& table, const Layers& layers,
                                          Problems& problems) {
  const auto before = problems.added();
  json::object given;
  for (const auto& option : table) {
    const auto entry = layers.find(option.name);
    if (!entry) continue;
    const auto value = problems.take(entry->to_json());
    if (!value) continue;
    const auto checked = resolve_options({option}, {{option.name, *value}}, "");
    if (!checked) {
      problems.add(entry->wrong(without_name(checked.error().message, option.name),
                                example_of_option(option, entry->path())));
    } else if (const auto* kept = checked->if_contains(option.name)) {
      given[option.name] = *kept;
    }
  }
  if (problems.added() > before) return std::nullopt;
  auto options = resolve_options(table, given, "options");
  if (options) return std::move(*options);
  // One that another option leaves unread.
  for (const auto& option : table) {
    if (!options.error().message.starts_with("options: '" + option.name + "' ")) continue;
    problems.add(layers.find(option.name)->wrong(without_name(options.error().message, option.name), ""));
    return std::nullopt;
  }
  problems.add(options.error());
  return std::nullopt;
}

}  // namespace hyfreedp::runner
