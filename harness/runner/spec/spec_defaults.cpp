#include "harness/runner/spec/spec_defaults.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "harness/base/text.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kDefaults = "defaults";

// Levels merge these key by key; of all else the topmost level counts as a whole.
bool is_merged(const std::string& key) { return key == "train" || key == "evaluate"; }

bool is_default_key(const std::string& key) { return std::ranges::count(default_keys(), key) > 0; }

std::optional<Entry> map_at(const Entry& document, const std::string& key) {
  auto found = document.find(key);
  return found && found->is_map() ? found : std::nullopt;
}

// A setting of `defaults`: a key, or one inside `train` and `evaluate`.
struct DefaultSetting {
  std::vector<std::string> keys;
  Entry value;
};

std::vector<DefaultSetting> settings_of(const Entry& defaults) {
  std::vector<DefaultSetting> settings;
  for (const auto& key : defaults.keys()) {
    if (!is_default_key(key)) continue;
    const auto value = *defaults.find(key);
    if (!is_merged(key) || !value.is_map()) {
      settings.push_back({{key}, value});
      continue;
    }
    for (const auto& inner : value.keys()) settings.push_back({{key, inner}, *value.find(inner)});
  }
  return settings;
}

std::optional<Entry> find(const Entry& map, const std::vector<std::string>& keys) {
  auto found = std::optional(map);
  for (const auto& key : keys) {
    if (found) found = found->find(key);
  }
  return found;
}

bool is_same(const Entry& one, const Entry& other) {
  const auto a = one.to_json(), b = other.to_json();
  return a && b && *a == *b;
}

Entry with_folded_defaults(const Entry& layer, Problems& problems) {
  const auto defaults = map_at(layer, kDefaults);
  if (!layer.is_map() || !defaults) return layer;
  auto rest = *defaults;
  auto made = layer;
  for (const auto& [keys, value] : settings_of(*defaults)) {
    rest = rest.without(keys.front());
    const auto own = find(layer, keys);
    if (own && !is_same(*own, value)) {
      problems.add(own->wrong(
          fmt::format(
              "is {} here and {} under 'defaults' ({}), which without 'panels' mean the same; keep one",
              own->shown(), value.shown(), value.place()),
          ""));
    }
    if (own) continue;
    const auto whole = layer.find(keys.front());
    if (keys.size() > 1 && whole && !whole->is_map()) continue;  // a mistake, said where it is read
    made = made.overlaid(value.nested(keys, layer.path()));
  }
  return rest.keys().empty() ? made.without(kDefaults) : made.with(kDefaults, rest);
}

}  // namespace

bool says_twice(const Entry& document) {
  const auto defaults = map_at(document, kDefaults);
  if (!defaults || document.find("panels")) return false;
  return std::ranges::any_of(settings_of(*defaults), [&](const DefaultSetting& setting) {
    return find(document, setting.keys).has_value() ||
           (is_merged(setting.keys.front()) && document.find(setting.keys.front()) &&
            !map_at(document, setting.keys.front()));
  });
}

Entry folded(const Entry& layer, Problems& problems) {
  auto made = with_folded_defaults(layer, problems);
  auto presets = map_at(made, "presets");
  if (!presets) return made;
  for (const auto& name : presets->keys()) {
    const auto preset = *presets->find(name);
    if (preset.is_map()) presets = presets->with(name, with_folded_defaults(preset, problems));
  }
  return made.with("presets", *presets);
}

std::vector<UnreadDefault> unread_defaults(const Entry& over, const Entry& below) {
  const auto defaults = map_at(over, kDefaults);
  const auto panels = below.find("panels");
  if (!defaults || !panels || !panels->is_list()) return {};
  const auto all = panels->list().value();
  if (all.empty()) return {};
  std::vector<UnreadDefault> unread;
  for (const auto& [keys, value] : settings_of(*defaults)) {
    std::vector<std::string> own;
    bool differs = false;
    for (const auto& panel : all) {
      const auto found = panel.is_map() ? find(panel, keys) : std::nullopt;
      if (!found) break;
      differs = differs || !is_same(*found, value);
      own.push_back(found->where());
    }
    if (own.size() == all.size() && differs) unread.push_back({value, std::move(own)});
  }
  return unread;
}

void check_reach(const Entry& over, const Entry& below, Problems& problems) {
  if (over.find("panels")) return;
  for (const auto& [value, own] : unread_defaults(over, below)) {
    const auto more = own.size() - 1;
    problems.add(value.wrong(
        fmt::format("changes nothing: a panel's own keys win over 'defaults', and every panel has this one "
                    "({}{}). Say it in the panels",
                    own.front(), more > 0 ? fmt::format(" and {} more", more) : ""),
        ""));
  }
}

}  // namespace hyfreedp::runner
