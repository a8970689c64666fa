#include "harness/runner/odometer/changed_rows.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/runner/odometer/release.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

constexpr std::size_t kMostRows = 8;  // that a refusal lists

bool has_content(const std::filesystem::path& file) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(file, absent);
  return !absent && size > 0;
}

// True if the run executed anything, as far as is known.
Result<bool> has_executed(const results::Store& store, const OutFolder& out, const std::string& trial) {
  const auto record = store.trial(trial);
  if (!record) return record.error();
  if (*record) {
    const auto& run = **record;
    const bool is_set_up_wrong =
        run.state == trial::TrialState::failed && results::is_setup_failure(run.failure_kind);
    if (!is_set_up_wrong || !run.events.empty() || !run.charged.empty()) return true;
    const auto steps = store.steps(trial);
    if (!steps) return steps.error();
    return !steps->empty();
  }
  return has_content(out.journal(trial));
}

// True if the folder has any run. It is not told which runs a private selection made, so any may be
// one.
Result<bool> has_any_run(const results::Store& store, const OutFolder& out) {
  const auto trials = store.trials();
  if (!trials) return trials.error();
  if (!trials->empty()) return true;
  const auto paths = entries_of(out.journals());
  if (!paths) return paths.error();
  return std::ranges::any_of(
      *paths, [](const auto& path) { return path.extension() == ".jsonl" && has_content(path); });
}

// `any_run`: has_any_run(), once it is known.
Result<bool> has_begun(const results::Store& store, const OutFolder& out, const results::StudyRecord& study,
                       std::optional<bool>& any_run) {
  if (study.state == results::StudyState::concluded || results::is_not_needed(study)) return true;
  if (study.composition.is_selection()) {
    if (any_run) return *any_run;
    auto found = has_any_run(store, out);
    if (found) any_run = *found;
    return found;
  }
  for (const auto& trial : study.trials) {
    auto executed = has_executed(store, out, trial);
    if (!executed || *executed) return executed;
  }
  return false;
}

// Panels whose seeds are decided by another rule than that of `recorded`.
std::set<std::string> with_another_rule(const spec::Spec& recorded, const spec::Spec& now) {
  std::set<std::string> panels;
  for (const auto& panel : now.panels) {
    const auto* there = spec::find_panel(recorded, panel.id);
    const auto rule = [](const spec::Panel& one) {
      return one.sequential ? canonical_json(as_json(*one.sequential)) : std::string();
    };
    if (there != nullptr && rule(*there) != rule(panel)) panels.insert(panel.id);
  }
  return panels;
}

using Place = std::tuple<std::string, std::string, std::optional<double>, std::int64_t>;

Place place_of(const PlannedStudy& study) {
  return {study.cell.panel, study.cell.row, study.cell.epsilon, study.cell.seed};
}

// Returns the fate of a study that is planned otherwise now.
Result<RowFate> fate_of(const results::Store& store, const PlannedStudy& now) {
  if (!now.cell.base.noise_seed && draws_anything({now})) return RowFate::trained_anew;
  const auto wanted = now.baseline->next(now.cell, {});
  if (!wanted) return RowFate::trained_anew;
  for (const auto& config : *wanted) {
    const auto known = store.trial(config.id());
    if (!known) return known.error();
    if (!*known) return RowFate::trained_anew;
  }
  return RowFate::priced_anew;
}

const char* words_for(RowFate fate) {
  switch (fate) {
    case RowFate::left_out:
      return "left out";
    case RowFate::trained_anew:
      return "trained anew";
    case RowFate::priced_anew:
      return "concluded and priced anew, of the same runs";
    case RowFate::seeds_decided:
      return "another rule says how many seeds it needs";
  }
  return "?";
}

}  // namespace

Result<ChangedRows> changed_rows(const results::Store& store, const OutFolder& out, const Spec& spec) {
  const auto record = store.spec(spec.content.name);
  if (!record) return record.error();
  ChangedRows changed;
  if (!*record || (**record).hash == spec.hash()) return changed;
  const auto recorded = results::spec_of(**record);
  if (!recorded) return recorded.error();
  const auto planned = plan_release(spec);
  if (!planned) return planned.error();
  const auto studies = store.studies(spec.content.name);
  if (!studies) return studies.error();
  std::set<std::string> ids;
  std::map<Place, const PlannedStudy*> places;
  for (const auto& study : *planned) {
    ids.insert(study.id);
    places.emplace(place_of(study), &study);
  }
  const auto other_rules = with_another_rule(*recorded, spec.content);
  std::map<std::tuple<std::string, std::string, RowFate>, std::size_t> counts;
  std::optional<bool> any_run;
  for (const auto& study : *studies) {
    const bool is_kept = ids.contains(study.id);
    if (is_kept && !(results::is_not_needed(study) && other_rules.contains(study.panel))) continue;
    const auto begun = has_begun(store, out, study, any_run);
    if (!begun) return begun.error();
    if (!*begun) {
      changed.never_begun.push_back(study.id);
      continue;
    }
    auto fate = RowFate::seeds_decided;
    const auto now = places.find({study.panel, study.row, study.epsilon_target, study.seed});
    if (now == places.end()) {
      fate = RowFate::left_out;
    } else if (!is_kept) {
      const auto found = fate_of(store, *now->second);
      if (!found) return found.error();
      fate = *found;
    }
    ++counts[{study.panel, study.row, fate}];
  }
  for (const auto& [key, count] : counts) {
    const auto& [panel, row, fate] = key;
    changed.lost.push_back({panel, row, fate, count});
  }
  return changed;
}

std::string text_of(const std::vector<LostRow>& rows) {
  std::vector<std::string> parts;
  parts.reserve(rows.size());
  for (const auto& row : rows) {
    parts.push_back(fmt::format("{}, {} ({}: {})", row.panel, row.row,
                                counted(static_cast<std::int64_t>(row.studies), "study", "studies"),
                                words_for(row.fate)));
  }
  const auto more = parts.size() > kMostRows ? parts.size() - kMostRows : 0;
  parts.resize(parts.size() - more);
  return join(parts, "; ") + (more > 0 ? fmt::format("; and {} more rows", more) : "");
}

}  // namespace hyfreedp::runner
