#include "results/regress/setting_changes.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/split.h"
#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

constexpr int kLeastDigits = 6;
constexpr int kMostDigits = 17;  // tell any two doubles apart
constexpr std::size_t kLongestValue = 48;
constexpr std::size_t kMostPlaces = 6;

void add_leaves(const json::object& object, const std::string& prefix, Setting& members) {
  for (const auto& member : object) {
    const std::string path = prefix + std::string(member.key());
    if (member.value().is_object() && !member.value().get_object().empty()) {
      add_leaves(member.value().get_object(), path + ".", members);
    } else {
      members[path] = canonical_json(member.value());
    }
  }
}

std::optional<double> number_of(const std::string& text) {
  if (text.empty() || text == "null" || text.front() == '"') return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

bool is_integer(const std::string& text) {
  return text.find_first_not_of("-0123456789") == std::string::npos;
}

std::string plain(const std::string& text) {
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

struct LeafChange {
  std::string path;
  std::string before;  // empty: absent
  std::string now;
};

std::vector<LeafChange> changes_of(const Setting& before, const Setting& now) {
  std::set<std::string> paths;
  for (const auto* setting : {&before, &now}) {
    for (const auto& [path, value] : *setting) paths.insert(path);
  }
  const auto value = [](const Setting& setting, const std::string& path) {
    const auto found = setting.find(path);
    return found == setting.end() ? std::string() : found->second;
  };
  std::vector<LeafChange> changes;
  for (const auto& path : paths) {
    LeafChange change{path, value(before, path), value(now, path)};
    if (change.before != change.now) changes.push_back(std::move(change));
  }
  return changes;
}

// "controller.lr" of "controller.options.lr", "optimizer" of "optimizer.name".
std::vector<std::string> said_components(const std::string& path) {
  auto parts = split(path, '.');
  std::erase(parts, "options");
  if (parts.size() > 1 && parts.back() == "name") parts.pop_back();
  return parts;
}

std::string long_name(const std::string& path) { return join(said_components(path), "."); }

std::string short_name(const std::string& path) {
  auto parts = said_components(path);
  if (parts.size() > 1) parts.erase(parts.begin());
  return join(parts, ".");
}

bool belongs_to_another_choice(const LeafChange& change, const std::vector<LeafChange>& all) {
  const auto at = change.path.find(".options.");
  if (at == std::string::npos) return false;
  const auto name = change.path.substr(0, at) + ".name";
  return std::ranges::any_of(all, [&](const LeafChange& other) { return other.path == name; });
}

// A difference of two specs, and everywhere that it is.
struct SpecChange {
  std::string text;
  std::vector<std::string> places;  // "linear", "linear/prodigy"; none: the whole spec
};

// True if each element is an object with an id of its own.
bool is_identified(const json::value& value) {
  if (!value.is_array() || value.get_array().empty()) return false;
  return std::ranges::all_of(value.get_array(), [](const json::value& element) {
    return element.is_object() && element.get_object().contains("id");
  });
}

const json::value* element_of(const json::array& array, const std::string& id) {
  for (const auto& element : array) {
    if (string_or(element.get_object(), "id", "") == id) return &element;
  }
  return nullptr;
}

class SpecWalk {
 public:
  void objects(const json::object& before, const json::object& now, const std::string& place,
               const std::string& prefix) {
    for (const auto& member : now)
      value(before.if_contains(member.key()), &member.value(), place, prefix, member.key());
    for (const auto& member : before) {
      if (!now.contains(member.key())) value(&member.value(), nullptr, place, prefix, member.key());
    }
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> lines;
    for (const auto& change : changes_) {
      if (change.places.empty()) {
        lines.push_back(change.text);
      } else if (change.places.size() > kMostPlaces) {
        lines.push_back(fmt::format("{} (in {} places)", change.text, change.places.size()));
      } else {
        lines.push_back(fmt::format("{} ({})", change.text, join(change.places, ", ")));
      }
    }
    return lines;
  }

 private:
  void value(const json::value* before, const json::value* now, const std::string& place,
             const std::string& prefix, std::string_view key) {
    const std::string path = prefix + std::string(key);
    if (before != nullptr && now != nullptr && before->is_object() && now->is_object())
      return objects(before->get_object(), now->get_object(), place, path + ".");
    if (before != nullptr && now != nullptr && is_identified(*before) && is_identified(*now))
      return elements(before->get_array(), now->get_array(), place, std::string(key));
    const auto text = [](const json::value* one) { return one == nullptr ? "" : canonical_json(*one); };
    if (text(before) != text(now)) add(long_name(path) + " " + value_change(text(before), text(now)), place);
  }

  void elements(const json::array& before, const json::array& now, const std::string& place,
                std::string kind) {
    if (kind.ends_with('s')) kind.pop_back();
    for (const auto& element : now) {
      const auto id = string_or(element.get_object(), "id", "");
      const auto* other = element_of(before, id);
      if (other == nullptr) {
        add(fmt::format("{} {} is new", kind, id), place);
      } else {
        objects(other->get_object(), element.get_object(),
                place.empty() ? id : fmt::format("{}/{}", place, id), "");
      }
    }
    for (const auto& element : before) {
      const auto id = string_or(element.get_object(), "id", "");
      if (element_of(now, id) == nullptr) add(fmt::format("{} {} is gone", kind, id), place);
    }
  }

  void add(const std::string& text, const std::string& place) {
    auto known = std::ranges::find_if(changes_, [&](const SpecChange& change) {
      return change.text == text && change.places.empty() == place.empty();
    });
    if (known == changes_.end()) known = changes_.insert(changes_.end(), SpecChange{text, {}});
    if (!place.empty()) known->places.push_back(place);
  }

  std::vector<SpecChange> changes_;
};

}  // namespace

std::string value_change(const std::string& before, const std::string& now) {
  const auto a = number_of(before), b = number_of(now);
  if (a && b && !(is_integer(before) && is_integer(now))) {
    for (int digits = kLeastDigits; digits <= kMostDigits; ++digits) {
      const auto left = short_number(*a, digits), right = short_number(*b, digits);
      if (left != right) return fmt::format("{} -> {}", left, right);
    }
  }
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : plain(text); };
  if (shown(before).size() > kLongestValue || shown(now).size() > kLongestValue) return "changed";
  return shown(before) + " -> " + shown(now);
}

Setting setting_of(const json::object& config) {
  Setting setting;
  add_leaves(config, "", setting);
  return setting;
}

std::vector<std::string> setting_changes(const Setting& before, const Setting& now) {
  const auto changes = changes_of(before, now);
  std::map<std::string, int> known;
  for (const auto& change : changes) ++known[short_name(change.path)];
  std::vector<std::string> texts;
  for (const auto& change : changes) {
    if (belongs_to_another_choice(change, changes)) continue;
    const auto name = short_name(change.path);
    texts.push_back((known[name] > 1 ? long_name(change.path) : name) + " " +
                    value_change(change.before, change.now));
  }
  return texts;
}

std::vector<std::string> spec_changes(const json::object& before, const json::object& now) {
  SpecWalk walk;
  walk.objects(before, now, "", "");
  return walk.texts();
}

}  // namespace hyfreedp::results
