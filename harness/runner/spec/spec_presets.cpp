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
Result<std::vector<std::string>> chain_of(const Entry& presets, const std::string& name,
                                          const std::vector<std::string>& names) {
  std::vector<std::string> chain;
  auto next = name;
  while (true) {
    const auto preset = presets.find(next);
    chain.insert(chain.begin(), next);
    const auto from = preset->find("from");
    if (!from) return chain;
    const auto below = from->text();
    if (!below) return below.error();
    if (std::find(names.begin(), names.end(), *below) == names.end()) {
      return unknown_preset(*from, *below, names);
    }
    if (std::ranges::count(chain, *below) > 0) {
      return from->wrong(fmt::format("comes back to the preset '{}'", *below));
    }
    next = *below;
  }
}

// Each layer with its own presets of the chain, over those below it.
Entry laid(const std::vector<Entry>& layers, const std::vector<std::string>& chain, Problems& problems) {
  std::optional<Entry> chosen;
  const auto lay = [&](const Entry& part) {
    if (chosen) check_reach(part, *chosen, problems);
    chosen = chosen ? chosen->overlaid(part) : part;
  };
  for (const auto& layer : layers) {
    lay(layer.without("presets"));
    const auto presets = layer.find("presets");
    if (!presets || !presets->is_map()) continue;
    for (const auto& name : chain) {
      const auto preset = presets->find(name);
      if (preset && preset->is_map()) lay(preset->without("from"));
    }
  }
  return *chosen;
}

}  // namespace

Entry laid_over_each_other(const std::vector<Entry>& layers) {
  auto whole = layers.front();
  for (std::size_t i = 1; i < layers.size(); ++i) whole = whole.overlaid(layers[i]);
  return whole;
}

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

std::optional<ChosenPreset> choose_preset(const std::vector<Entry>& layers, const std::string& wanted,
                                          const std::vector<std::string>& spec_keys, Problems& problems) {
  const auto document = laid_over_each_other(layers);
  const auto names = preset_names(document, problems);
  if (!names) return std::nullopt;
  if (names->empty()) {
    if (wanted.empty()) return ChosenPreset{laid(layers, {}, problems), ""};
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
  if (!chain) return std::nullopt;
  // check_preset() has reported a preset that is no map.
  const auto is_map = [&](const std::string& one) { return presets.find(one)->is_map(); };
  if (!std::ranges::all_of(*chain, is_map)) return std::nullopt;
  return ChosenPreset{laid(layers, *chain, problems), name};
}

}  // namespace hyfreedp::runner
