#include "harness/runner/spec/spec_document.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/runner/spec/spec_defaults.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInclude = "include";

std::string as_comment(const std::string& text) {
  std::string comment;
  for (const auto& line : split(text, '\n')) comment += line.empty() ? "#\n" : "# " + line + "\n";
  return comment;
}

// Merging would take one of two equal keys without a word.
void check_keys_below(const Entry& entry, Problems& problems) {
  if (entry.is_list()) {
    const auto elements = entry.list();
    for (const auto& element : *elements) check_keys_below(element, problems);
  }
  if (!entry.is_map()) return;
  entry.check_keys(nullptr, problems);
  for (const auto& key : entry.keys()) check_keys_below(*entry.find(key), problems);
}

// The path by which a file is known again. A pipe, from which a spec can be read, has no canonical
// path.
fs::path identity_of(const fs::path& file) {
  std::error_code failure;
  auto canonical = fs::weakly_canonical(file, failure);
  return failure ? file.lexically_normal() : canonical;
}

class Includer {
 public:
  Includer(std::string text, Defaults defaults, Problems& problems)
      : defaults_(defaults), problems_(problems), text_(std::move(text)) {}

  Result<void> add(const Entry& document, const std::string& path) {
    const auto include = document.find(kInclude);
    if (!include) {
      layers_.push_back(own_part(document));
      return {};
    }
    if (auto checked = check_keys_of(document, path); !checked) return checked.error();
    const auto files = include->is_list() ? include->list() : Result<std::vector<Entry>>({*include});
    if (!files) return files.error();
    open_.push_back(identity_of(path));
    for (const auto& file : *files) {
      if (auto included = read(file, path); !included) return included;
    }
    open_.pop_back();
    layers_.push_back(own_part(document.without(kInclude)));
    return {};
  }

  const std::vector<Entry>& layers() const { return layers_; }
  const std::string& text() const { return text_; }

 private:
  Entry own_part(const Entry& document) {
    return defaults_ == Defaults::at_top_level ? folded(document, problems_) : document;
  }

  static Result<void> check_keys_of(const Entry& document, const std::string& path) {
    Problems problems(path);
    check_keys_below(document, problems);
    if (problems.empty()) return {};
    return problems.error();
  }

  Result<void> read(const Entry& name, const std::string& path) {
    if (!name.is_text()) return name.wrong("must be a file's name, not " + name.shown());
    const auto file = (fs::path(path).parent_path() / name.text().value()).lexically_normal();
    std::error_code ignored;  // such as of a name that is too long
    if (!fs::is_regular_file(file, ignored)) {
      return name.wrong(fmt::format("names no file: {} is not there", file.string()), "");
    }
    if (std::ranges::count(open_, identity_of(file)) > 0) {
      return name.wrong(fmt::format("comes back to {}, which includes this file", file.string()), "");
    }
    const auto text = read_file(file.string());
    if (!text) return name.wrong(text.error());
    auto parsed = name.parse_further(file.string(), *text);
    if (!parsed) return parsed.error();
    if (!parsed->is_map())
      return parsed->wrong("must be a map of keys and values, not " + parsed->shown(), "");
    if (auto checked = check_keys_of(*parsed, file.string()); !checked) return checked.error();
    text_ += fmt::format("\n# Included: {}\n{}", file.string(), as_comment(*text));
    return add(*parsed, file.string());
  }

  Defaults defaults_;
  Problems& problems_;
  std::vector<fs::path> open_;  // files whose `include` is being read
  std::vector<Entry> layers_;
  std::string text_;
};

// One `--set`.
class Setting {
 public:
  static Result<Setting> read(const Entry& document, const std::string& text, Defaults defaults) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0) {
      return error(
          fmt::format("--set {}: give KEY=VALUE, for example --set defaults.train.steps=100.", text));
    }
    Setting setting{"--set " + text.substr(0, at), split(text.substr(0, at), '.')};
    if (std::ranges::count(setting.keys_, "") > 0) return setting.wrong("the path has an empty name");
    const auto& first = setting.keys_.front();
    if (first == "presets" || first == kInclude) {
      return setting.wrong(
          "the path is of a value in the preset that is chosen, without what the files are "
          "made of; give --preset, or name the value itself");
    }
    const auto value = text.substr(at + 1);
    auto parsed = document.parse_argument(setting.name_, value.empty() ? "null" : value);
    if (!parsed) return parsed.error();
    setting.value_ = std::move(*parsed);
    // Each value of a whole `defaults` is laid over what is there.
    setting.is_layer_ = defaults == Defaults::at_top_level && setting.keys_.front() == "defaults";
    return setting;
  }

  Result<Entry> made_in(const Entry& document, Problems& problems) const {
    if (!is_layer_) return made_at(document, keys_);
    if (keys_.size() > 1) return made_at(document, Keys(keys_).subspan(1));
    return document.overlaid(folded(value_->nested(keys_, ""), problems));
  }

 private:
  using Keys = std::span<const std::string>;

  Setting(std::string name, std::vector<std::string> keys) : name_(std::move(name)), keys_(std::move(keys)) {}

  Error wrong(const std::string& what) const { return error(name_ + ": " + what + "."); }

  Result<Entry> made_at(const Entry& place, Keys keys) const {
    if (keys.empty()) return *value_;
    if (place.is_list()) return made_in_list(place, keys);
    if (place.is_null()) return value_->nested({keys.begin(), keys.end()}, place.path());
    if (!place.is_map()) {
      const auto map = map_for(place);
      if (!map) return wrong(fmt::format("{} is {}, which has no keys", place.path(), place.shown()));
      return made_at(*map, keys);
    }
    // `each` has keys with dots in them.
    std::size_t taken = place.path().ends_with("each") ? keys.size() : 1;
    for (std::size_t length = keys.size(); length > taken; --length) {
      if (place.find(joined(keys.first(length)))) taken = length;
    }
    const auto key = joined(keys.first(taken));
    const auto rest = keys.subspan(taken);
    const auto inner = place.find(key);
    if (!inner) return place.with(key, value_->nested({rest.begin(), rest.end()}, ""));
    auto made = made_at(*inner, rest);
    if (!made) return made;
    return place.with(key, *made);
  }

  static std::string joined(Keys keys) { return join({keys.begin(), keys.end()}, "."); }

  Result<Entry> made_in_list(const Entry& place, Keys keys) const {
    const auto elements = place.list();
    const auto index = index_of(*elements, keys.front());
    if (!index) {
      std::vector<std::string> names;
      for (const auto& element : *elements) {
        if (auto name = name_of(element); !name.empty()) names.push_back(std::move(name));
      }
      return wrong(fmt::format("{} has no element '{}'.{} It has {}{}", place.path(), keys.front(),
                               did_you_mean(keys.front(), names),
                               counted(static_cast<std::int64_t>(elements->size()), "element"),
                               names.empty() ? "" : ": " + join(names, ", ")));
    }
    auto made = made_at((*elements)[*index], keys.subspan(1));
    if (!made) return made;
    return place.with(*index, *made);
  }

  // The name of a panel or row; empty if it has none.
  static std::string name_of(const Entry& element) {
    if (element.is_text()) return element.text().value();
    for (const char* key : {"id", "use", "method"}) {
      const auto name = element.find(key);
      if (name && name->is_text()) return name->text().value();
    }
    return "";
  }

  static std::optional<std::size_t> index_of(const std::vector<Entry>& elements, const std::string& name) {
    const auto found = std::ranges::find(elements, name, name_of);
    if (found != elements.end()) return static_cast<std::size_t>(found - elements.begin());
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_number = code == std::errc() && end == name.data() + name.size();
    if (!is_number || index >= elements.size()) return std::nullopt;
    return index;
  }

  // The map that a plain name stands for; none if it stands for none.
  static std::optional<Entry> map_for(const Entry& place) {
    if (!place.is_text()) return std::nullopt;
    const auto& path = place.path();
    for (const char* named : {"dataset", "model", "optimizer"}) {
      if (path == named || path.ends_with(std::string(".") + named)) return place.nested({"name"}, path);
    }
    if (path.starts_with("rows[")) return place.nested({"method"}, path);
    return std::nullopt;
  }

  std::string name_;  // "--set KEY"
  std::vector<std::string> keys_;
  std::optional<Entry> value_;
  bool is_layer_ = false;  // `defaults`, which stands at the top level
};

}  // namespace

std::optional<SpecDocument> parse_document(const std::string& path, const std::string& text,
                                           Defaults defaults, Problems& problems) {
  const auto document = problems.take(Entry::parse(path, text));
  if (!document) return std::nullopt;
  Includer includer(text, defaults, problems);
  if (!problems.take(includer.add(*document, path))) return std::nullopt;
  return SpecDocument{includer.layers(), includer.text()};
}

Result<Entry> with_settings(const Entry& document, const std::vector<std::string>& settings,
                            Defaults defaults) {
  auto made = document;
  Problems problems("");
  for (const auto& text : settings) {
    const auto setting = Setting::read(document, text, defaults);
    if (!setting) return setting.error();
    auto next = setting->made_in(made, problems);
    if (!next) return next;
    made = std::move(*next);
  }
  return made;
}

std::string key_of_setting(const std::string& setting) { return setting.substr(0, setting.find('=')); }

std::string text_with(const std::string& text, const std::vector<std::string>& settings) {
  auto all = text;
  if (!settings.empty()) all += "\n";
  for (const auto& setting : settings) all += as_comment("--set " + setting);
  return all;
}

}  // namespace hyfreedp::runner
