#include "harness/runner/execute/only.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "harness/base/split.h"
#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

enum class Key { panel, row, epsilon, noise_multiplier, seed };
constexpr std::array kKeys = {Key::panel, Key::row, Key::epsilon, Key::noise_multiplier, Key::seed};

std::string name_of(Key key) {
  constexpr std::array kNames = {"panel", "row", "epsilon", "noise_multiplier", "seed"};
  return kNames.at(static_cast<std::size_t>(key));
}

struct Candidate {
  const PlannedStudy* study = nullptr;
  std::string group;  // of its row; empty: none
};

std::string text_of(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "inf"; }

// Returns the values of a key that choose the study.
std::vector<std::string> values_of(const Candidate& candidate, Key key) {
  const auto& cell = candidate.study->cell;
  switch (key) {
    case Key::panel:
      return {cell.panel};
    case Key::row:
      return candidate.group.empty() ? std::vector{cell.row} : std::vector{cell.row, candidate.group};
    case Key::epsilon:
      return {text_of(cell.epsilon)};
    case Key::noise_multiplier:
      return cell.noise_multiplier ? std::vector{text_of(cell.noise_multiplier)} : std::vector<std::string>{};
    case Key::seed:
      return {std::to_string(cell.seed)};
  }
  return {};
}

bool has(const Candidate& candidate, Key key, const std::string& value) {
  return std::ranges::count(values_of(candidate, key), value) > 0;
}

// Writes a value as values_of() does: "3.0" is the epsilon 3.
std::string written(Key key, const std::string& text) {
  if (key != Key::epsilon && key != Key::noise_multiplier) return text;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? fmt::format("{}", value) : text;
}

// Returns the values that the key has, in the order of the spec, each once.
std::vector<std::string> all_values(const std::vector<Candidate>& candidates, Key key) {
  std::vector<std::string> all;
  for (const auto& candidate : candidates) {
    for (const auto& value : values_of(candidate, key)) {
      if (std::ranges::count(all, value) == 0) all.push_back(value);
    }
  }
  return all;
}

std::string list_of_values(const std::vector<Candidate>& candidates) {
  std::vector<std::string> parts;
  for (const auto key : kKeys) {
    const auto values = all_values(candidates, key);
    if (!values.empty()) parts.push_back(fmt::format("{}: {}", name_of(key), join(values, ", ")));
  }
  return join(parts, "; ");
}

// One `--only`: the values asked for, by key.
using Block = std::map<Key, std::vector<std::string>>;

Error wrong(const std::string& text, const std::string& what) {
  return error(fmt::format("--only {}: {}", text, what));
}

// The key that has a value given alone.
Result<Key> key_of(const std::string& value, const std::string& text,
                   const std::vector<Candidate>& candidates) {
  std::vector<Key> keys;
  std::vector<std::string> known, meant;
  for (const auto key : kKeys) {
    const auto values = all_values(candidates, key);
    known.insert(known.end(), values.begin(), values.end());
    if (std::ranges::count(values, written(key, value)) == 0) continue;
    keys.push_back(key);
    meant.push_back(name_of(key) + "=" + value);
  }
  if (keys.size() == 1) return keys.front();
  if (keys.empty()) {
    return wrong(text, fmt::format("the spec has no '{}'.{} There are {}.", value, did_you_mean(value, known),
                                   list_of_values(candidates)));
  }
  return wrong(text, fmt::format("'{}' may be {}; say which.", value, join(meant, " or ")));
}

Result<Block> read_block(const std::string& text, const std::vector<Candidate>& candidates) {
  Block block;
  for (const auto& part : split(text, ',')) {
    const auto at = part.find('=');
    const auto value = at == std::string::npos ? part : part.substr(at + 1);
    if (value.empty()) return wrong(text, "a value is missing. Example: --only row=prodigy,epsilon=3.");
    if (at == std::string::npos) {
      const auto key = key_of(value, text, candidates);
      if (!key) return key.error();
      block[*key].push_back(written(*key, value));
      continue;
    }
    const auto given = part.substr(0, at);
    const auto key = std::ranges::find(kKeys, given, name_of);
    if (key == kKeys.end()) {
      std::vector<std::string> names;
      names.reserve(kKeys.size());
      for (const auto known : kKeys) names.push_back(name_of(known));
      return wrong(text, fmt::format("unknown key '{}'.{} Keys: {}.", given, did_you_mean(given, names),
                                     join(names, ", ")));
    }
    block[*key].push_back(written(*key, value));
  }
  return block;
}

Result<std::vector<Candidate>> chosen(const Block& block, const std::string& text,
                                      std::vector<Candidate> candidates) {
  std::vector<std::string> before;  // keys that left these
  for (const auto& asked : block) {
    const auto key = asked.first;
    const auto& values = asked.second;
    for (const auto& value : values) {
      if (std::ranges::any_of(candidates, [&](const Candidate& one) { return has(one, key, value); }))
        continue;
      const auto valid = all_values(candidates, key);
      return wrong(
          text, fmt::format("there is no {} {}{}.{} There {}.", name_of(key), value,
                            before.empty() ? "" : " with " + join(before, ", "), did_you_mean(value, valid),
                            valid.empty() ? "is none" : "are " + join(valid, ", ")));
    }
    std::erase_if(candidates, [&](const Candidate& one) {
      return std::ranges::none_of(values, [&](const std::string& value) { return has(one, key, value); });
    });
    before.push_back(name_of(key) + "=" + join(values, "|"));
  }
  return candidates;
}

}  // namespace

Only::Place Only::place_of(const baselines::Cell& cell) {
  return {cell.panel, cell.row, cell.epsilon, cell.seed};
}

Result<Only> Only::read(const std::vector<std::string>& asked, const Spec& spec) {
  Only only;
  if (asked.empty()) return only;
  const auto planned = plan(spec);
  if (!planned) return planned.error();
  std::vector<Candidate> candidates;
  for (const auto& study : *planned) {
    const auto* panel = spec::find_panel(spec.content, study.cell.panel);
    const auto* row = panel != nullptr ? spec::find_row(*panel, study.cell.row) : nullptr;
    candidates.push_back({&study, row != nullptr ? row->group : ""});
  }
  only.studies_.emplace();
  for (const auto& text : asked) {
    const auto block = read_block(text, candidates);
    if (!block) return block.error();
    const auto found = chosen(*block, text, candidates);
    if (!found) return found.error();
    for (const auto& one : *found) only.studies_->insert(place_of(one.study->cell));
  }
  return only;
}

bool Only::covers(const baselines::Cell& cell) const {
  return !studies_ || studies_->contains(place_of(cell));
}

std::vector<PlannedStudy> covered(std::vector<PlannedStudy> planned, const Only& only) {
  std::erase_if(planned, [&](const PlannedStudy& study) { return !only.covers(study.cell); });
  return planned;
}

Result<Spec> narrowed(const Spec& spec, const Only& only) {
  if (only.is_all()) return spec;
  auto planned = plan(spec);
  if (!planned) return planned.error();
  const auto left = covered(std::move(*planned), only);
  auto part = spec;
  for (auto& panel : part.content.panels) {
    std::erase_if(panel.rows, [&](const spec::Row& row) {
      return std::ranges::none_of(left, [&](const PlannedStudy& study) {
        return study.cell.panel == panel.id && study.cell.row == row.id;
      });
    });
  }
  std::erase_if(part.content.panels, [](const spec::Panel& panel) { return panel.rows.empty(); });
  return part;
}

Result<void> check_seeds_are_whole(const Only& only, const Spec& spec) {
  if (only.is_all()) return {};
  const auto planned = plan(spec);
  if (!planned) return planned.error();
  std::map<std::tuple<std::string, std::string, std::optional<double>>, std::set<bool>> covers;
  for (const auto& study : *planned) {
    const auto& cell = study.cell;
    const auto* panel = spec::find_panel(spec.content, cell.panel);
    const auto* row = panel != nullptr ? spec::find_row(*panel, cell.row) : nullptr;
    if (row == nullptr || !spec::has_sequential_seeds(*panel, *row)) continue;
    auto& seen = covers[{cell.panel, cell.row, cell.epsilon}];
    seen.insert(only.covers(cell));
    if (seen.size() > 1) {
      return error(fmt::format(
          "--only: how many seeds of row '{}' are trained is decided by the panel's comparison (seeds: "
          "until), and all of them are charged from the start; name no seed of it.",
          cell.row));
    }
  }
  return {};
}

}  // namespace hyfreedp::runner
