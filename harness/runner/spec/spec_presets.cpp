#include "harness/runner/spec/spec_presets.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/runner/spec/spec.h"
#include "harness/runner/spec/spec_defaults.h"

namespace hyfreedp::runner {
namespace {

Error unknown_preset(const Entry& place, const std::string& wanted, const std::vector<std::string>& names) {
  return place.wrong(fmt::format("names no preset: '{}'.{} Presets: {}", wanted, did_you_mean(wanted, names),
                                 join(names, ", ")),
                     "");
}

void check_preset(const Entry& preset, const std::vector<std::string>& spec_keys, Problems& problems) {
  std::vector<std::string> valid{"from"};
  for (const auto& key : spec_keys) {
    if (key != "name" && key != "presets" && key != "include" && key != "reproduces") valid.push_back(key);
  }
  preset.check_keys(&valid, problems);
}

// The presets to lay over the top level, the lowest first.
Result<std::vector<Entry>> chain_of(const Entry& presets, const std::string& name,
                                    const std::vector<std::string>& names) {
  std::vector<Entry> chain;
  std::vector<std::string> seen;
  auto next = name;
  while (true) {
    const auto preset = presets.find(next);
    chain.insert(chain.begin(), *preset);
    seen.push_back(next);
    const auto from = preset->find("from");
    if (!from) return chain;
    const auto below = from->text();
    if (!below) return below.error();
    if (std::find(names.begin(), names.end(), *below) == names.end()) {
      return unknown_preset(*from, *below, names);
    }
    if (std::find(seen.begin(), seen.end(), *below) != seen.end()) {
      return from->wrong(fmt::format("comes back to the preset '{}'", *below));
    }
    next = *below;
  }
}

}  // namespace

std::optional<std::vector<std::string>> preset_names(const Entry& document, Problems& problems) {
  const auto presets = document.find("presets");
  if (!presets) return std::vector<std::string>{};
  const auto before = problems.added();
  if (!presets->check_keys(nullptr, problems)) return std::nullopt;
  const auto names = presets->keys();
  if (names.empty()) problems.add(presets->wrong("must have at least one preset"));
  // A name is part of the resolved spec's name, and of its folder's.
  for (const auto& name : names) problems.take(check_identifier(*presets->find(name), name));
  if (problems.added() > before) return std::nullopt;
  return names;
}

std::optional<ChosenPreset> choose_preset(const Entry& document, const std::string& wanted,
                                          const std::vector<std::string>& spec_keys, Problems& problems) {
  const auto names = preset_names(document, problems);
  if (!names) return std::nullopt;
  if (names->empty()) {
    if (wanted.empty()) return ChosenPreset{document, ""};
    problems.add(document.wrong(fmt::format("has no presets, so '{}' cannot be chosen", wanted)));
    return std::nullopt;
  }
  const auto presets = *document.find("presets");
  for (const auto& name : *names) check_preset(*presets.find(name), spec_keys, problems);
  auto name = wanted;
  const auto has = [&](const std::string& one) {
    return std::find(names->begin(), names->end(), one) != names->end();
  };
  if (name.empty()) name = has("small") ? "small" : names->front();
  if (!has(name)) {
    problems.add(unknown_preset(presets, name, *names));
    return std::nullopt;
  }
  const auto chain = problems.take(chain_of(presets, name, *names));
  // That one is no map was said above.
  if (!chain || !std::ranges::all_of(*chain, &Entry::is_map)) return std::nullopt;
  auto chosen = document.without("presets");
  for (const auto& preset : *chain) {
    check_reach(preset, chosen, problems);
    chosen = chosen.overlaid(preset.without("from"));
  }
  return ChosenPreset{std::move(chosen), name};
}

}  // namespace hyfreedp::runner
