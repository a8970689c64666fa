#include "results/regress/regress_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

// One seed's runs in both nights.
struct SeedRuns {
  const NightRun& tonight;
  const NightRun& reference;

  // Only the reported run of a private selection is known.
  bool is_hidden() const { return tonight.asked.empty() || reference.asked.empty(); }
  bool is_search() const { return is_hidden() || tonight.asked.size() > 1 || reference.asked.size() > 1; }
  bool both_report() const { return !tonight.setting.empty() && !reference.setting.empty(); }
  bool differ() const {
    if (both_report() && tonight.setting != reference.setting) return true;
    return !is_hidden() && tonight.asked != reference.asked;
  }
  // True if spec and noise seed leave nothing but the program that could have made the difference.
  bool is_certain() const {
    const bool same_noise = !tonight.noise_seed.empty() && tonight.noise_seed == reference.noise_seed;
    return same_noise && (!is_search() || tonight.machine == reference.machine);
  }
};

std::vector<Setting> only_in(const std::vector<Setting>& these, const std::vector<Setting>& those) {
  std::vector<Setting> only;
  std::ranges::set_difference(these, those, std::back_inserter(only));
  return only;
}

std::size_t distance(const Setting& a, const Setting& b) { return setting_changes(a, b).size(); }

// Each run that is gone with the most similar new one.
std::string asked_changes(const NightRun& reference, const NightRun& tonight) {
  auto gone = only_in(reference.asked, tonight.asked), fresh = only_in(tonight.asked, reference.asked);
  std::vector<std::string> texts;
  std::size_t unmatched = 0;
  for (const auto& before : gone) {
    if (fresh.empty()) {
      ++unmatched;
      continue;
    }
    const auto nearest = std::ranges::min_element(
        fresh, {}, [&](const Setting& candidate) { return distance(before, candidate); });
    auto text = join(setting_changes(before, *nearest), ", ");
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    fresh.erase(nearest);
  }
  const auto runs = [](std::size_t count) { return counted(static_cast<std::int64_t>(count), "run"); };
  if (unmatched > 0) texts.push_back(runs(unmatched) + " fewer");
  if (!fresh.empty()) texts.push_back(runs(fresh.size()) + " more");
  return join(texts, "; ");
}

std::string change_of(const SeedRuns& runs) {
  if (!runs.both_report() || runs.tonight.setting == runs.reference.setting)
    return asked_changes(runs.reference, runs.tonight);
  auto before = runs.reference.setting, now = runs.tonight.setting;
  if (runs.is_hidden()) {  // which of its runs it was is confidential
    before.erase("repetition");
    now.erase("repetition");
  }
  const auto changes = setting_changes(before, now);
  if (changes.empty()) return "another run of the same setting is reported";
  const bool chosen = !runs.is_hidden() && runs.tonight.asked == runs.reference.asked;
  return (chosen ? "another of the same runs is reported, " : "") + join(changes, ", ");
}

std::vector<SeedRuns> seeds_of(const NightCell& tonight, const NightCell& reference) {
  std::vector<SeedRuns> seeds;
  for (const auto& before : reference.runs) {
    const auto now = std::ranges::find(tonight.runs, before.seed, &NightRun::seed);
    if (now == tonight.runs.end()) continue;
    const SeedRuns runs{*now, before};
    if (runs.both_report() || !runs.is_hidden()) seeds.push_back(runs);
  }
  return seeds;
}

json::object without(json::object object, std::initializer_list<const char*> keys) {
  for (const auto* key : keys) object.erase(key);
  return object;
}

// Null where the list has none of that id.
const json::object* with_id(const json::object& object, const char* list, const std::string& id) {
  const auto* found = object.if_contains(list);
  if (found == nullptr || !found->is_array()) return nullptr;
  for (const auto& one : found->get_array()) {
    if (one.is_object() && string_or(one.get_object(), "id", "") == id) return &one.get_object();
  }
  return nullptr;
}

// Returns the part of a resolved spec that decides the runs of the cell; empty if it has no such
// row.
json::object deciding(const json::object& resolved, const NightCell& cell) {
  const auto* panel = with_id(resolved, "panels", cell.panel);
  const auto* row = panel == nullptr ? nullptr : with_id(*panel, "rows", cell.row);
  if (row == nullptr) return {};
  const auto* noise_seed = resolved.if_contains("noise_seed");
  return {{"noise_seed", noise_seed == nullptr ? json::value(nullptr) : *noise_seed},
          {"panel", without(*panel, {"title", "seeds", "sequential", "epsilons", "footnotes", "paper",
                                     "table", "rows"})},
          {"row", without(*row, {"title", "label", "seeds", "epsilons", "footnotes", "group", "release",
                                 "paper", "paper_ood_test"})}};
}

}  // namespace

bool is_asked_alike(const json::object& tonight, const json::object& reference, const NightCell& cell) {
  const auto now = deciding(tonight, cell);
  return !now.empty() && now == deciding(reference, cell);
}

std::optional<RegressFinding> compare_settings(const NightCell& tonight, const NightCell& reference,
                                               bool same_spec) {
  const auto seeds = seeds_of(tonight, reference);
  if (seeds.empty()) return std::nullopt;
  std::vector<std::pair<std::string, std::vector<std::string>>> changes;  // text: seeds
  bool certain = false;
  for (const auto& runs : seeds) {
    if (!runs.differ()) continue;
    certain = certain || runs.is_certain();
    const auto text = change_of(runs);
    auto known = std::ranges::find_if(changes, [&](const auto& one) { return one.first == text; });
    if (known == changes.end()) known = changes.insert(changes.end(), {text, {}});
    known->second.push_back(std::to_string(runs.tonight.seed));
  }
  RegressFinding finding{.what = "setting", .test = "", .verdict = RegressVerdict::same, .text = "as before"};
  finding.replicates = static_cast<std::int64_t>(seeds.size());
  if (changes.empty()) return finding;
  std::vector<std::string> texts;
  for (const auto& [text, of] : changes) {
    const bool all = of.size() == seeds.size();
    texts.push_back(all ? text : fmt::format("seed {}: {}", join(of, ", "), text));
  }
  finding.text = fmt::format("{}: {}", reference.row, join(texts, "; "));
  finding.verdict = certain ? RegressVerdict::changed : RegressVerdict::unclear;
  if (!same_spec) {
    finding.verdict = RegressVerdict::skipped;
    finding.text += " (the spec asks for another)";
  } else if (!certain) {
    finding.text +=
        "; may be chance: a search under other noise, or on another build, device or number of threads";
  }
  return finding;
}

}  // namespace hyfreedp::results
