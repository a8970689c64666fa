#include "harness/runner/spec/spec_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "harness/runner/spec/spec_document.h"

namespace hyfreedp::runner {
namespace {

// The paths of the values that a setting gives: its own, or those in its map.
std::vector<std::string> paths_in(const std::string& key, const Entry& value) {
  if (!value.is_map() || value.keys().empty()) return {key};
  std::vector<std::string> paths;
  for (const auto& inner : value.keys()) {
    const auto below = paths_in(fmt::format("{}.{}", key, inner), *value.find(inner));
    paths.insert(paths.end(), below.begin(), below.end());
  }
  return paths;
}

// True if nothing reads some value of the setting: the spec has no mistake with a text in its place
// that no reader takes for a value.
bool is_passed_over(const SpecSources& sources, std::size_t index, const Entry& document,
                    const ContentOf& content_of) {
  const auto& setting = sources.settings[index];
  const auto key = key_of_setting(setting);
  const auto value = document.parse_argument("--set " + key, setting.substr(key.size() + 1));
  if (!value) return false;
  return std::ranges::any_of(paths_in(key, *value), [&](const std::string& path) {
    auto changed = sources;
    changed.settings.push_back(path + "={no value: of a spec}");
    return content_of(changed).has_value();
  });
}

// Returns the places, the first few, at which a panel or a row says itself what a setting says
// above it.
std::string where_overruled(const Entry& document, const std::string& key) {
  auto keys = split(key, '.');
  const auto level = keys.front(), name = keys.size() > 2 ? keys[1] : "";
  if (level == "defaults") keys.erase(keys.begin());
  if ((level == "panels" || level == "rows") && keys.size() > 2) keys.erase(keys.begin(), keys.begin() + 2);
  std::vector<std::string> places;
  const auto look = [&](const Entry& map) {
    auto found = std::optional(map);
    for (const auto& one : keys) {
      if (found) found = found->find(one);
    }
    // A row has these of its own outside of `train`.
    const bool is_rows_own = keys.front() == "train" && (keys.back() == "steps" || keys.back() == "control");
    if (!found && is_rows_own && map.path().find("rows[") != std::string::npos) found = map.find(keys.back());
    if (found) places.push_back(found->where());
  };
  const auto maps_in = [](const Entry& map, const char* list) {
    const auto entry = map.find(list);
    return entry && entry->is_list() ? entry->list().value() : std::vector<Entry>{};
  };
  for (const auto& panel : maps_in(document, "panels")) {
    look(panel);
    for (const auto& row : maps_in(panel, "rows")) {
      const auto used = row.find("use");
      if (level != "rows" || (used && used->shown() == "'" + name + "'")) look(row);
    }
  }
  if (level != "rows") {
    for (const auto& row : maps_in(document, "rows")) look(row);
  }
  constexpr std::size_t kMostPlaces = 3;
  const auto more = places.size() > kMostPlaces ? places.size() - kMostPlaces : 0;
  places.resize(places.size() - more);
  return join(places, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

void check_settings(const SpecSources& sources, const Entry& document, const std::string& content,
                    const ContentOf& content_of, Problems& problems) {
  const auto& settings = sources.settings;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto key = key_of_setting(settings[i]);
    const auto is_set_again = [&](const std::string& later) {
      const auto other = key_of_setting(later);
      return key == other || key.starts_with(other + ".");
    };
    const auto again =
        std::find_if(settings.begin() + static_cast<std::ptrdiff_t>(i) + 1, settings.end(), is_set_again);
    if (again != settings.end()) {
      problems.warn(
          error(fmt::format("--set {} has no effect: --set {} comes after it.", settings[i], *again)));
      continue;
    }
    auto without = sources;
    without.settings.erase(without.settings.begin() + static_cast<std::ptrdiff_t>(i));
    if (content_of(without) != content) continue;
    if (!is_passed_over(sources, i, document, content_of)) {
      problems.warn(error(fmt::format("--set {}: the spec is the same without it.", settings[i])));
      continue;
    }
    const auto places = where_overruled(document, key);
    problems.add(error(fmt::format(
        "--set {} changes nothing{}. A panel's own keys win over 'defaults', a row's over its panel's, and "
        "what "
        "a panel's row says over the shared row that it uses.",
        settings[i],
        places.empty() ? ", for no panel or row reads it" : ", for this wins over it: " + places)));
  }
}

}  // namespace hyfreedp::runner
