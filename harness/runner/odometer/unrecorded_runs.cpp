#include "harness/runner/odometer/unrecorded_runs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/journal.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::runner {
namespace {

// Writes what a private selection's runs have in common, and its record tells: data and planned
// events.
std::string likeness(const trial::Named& dataset, const std::vector<accounting::Event>& planned) {
  std::set<std::string> kinds;
  for (const auto& event : trial::EventTally(planned).events())
    kinds.insert(canonical_json(accounting::event_to_json(event)));
  return canonical_json(as_json(dataset)) + join({kinds.begin(), kinds.end()}, " ");
}

constexpr std::int64_t kAnyRelease = -1;  // of which an older record says nothing

// The runs and private selections that the database knows.
struct KnownRuns {
  std::set<std::string> trials;  // by id
  // The releases of selections that list no run, by likeness.
  std::map<std::string, std::set<std::int64_t>> selections;

  void add(const trial::Composition& composition, const std::vector<std::string>& listed) {
    trials.insert(listed.begin(), listed.end());
    if (!composition.selection || !composition.dataset) return;
    const auto& planned = composition.unlisted ? composition.unlisted->planned : composition.selection->base;
    selections[likeness(*composition.dataset, planned)].insert(composition.release.value_or(kAnyRelease));
  }
  bool has_selection(const std::string& like, std::int64_t release) const {
    const auto found = selections.find(like);
    return found != selections.end() &&
           (found->second.contains(release) || found->second.contains(kAnyRelease));
  }
};

Result<KnownRuns> known_runs(const results::Store& store) {
  KnownRuns known;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) known.add(study.composition, study.trials);
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  for (const auto& study : *retired) known.add(study.composition, study.trials);
  const auto trials = store.trials();
  if (!trials) return trials.error();
  for (const auto& trial : *trials) known.trials.insert(trial.id);
  return known;
}

}  // namespace

Result<std::optional<std::int64_t>> latest_unrecorded(const results::Store& store, const OutFolder& out,
                                                      const std::vector<PlannedStudy>& planned) {
  const auto known = known_runs(store);
  if (!known) return known.error();
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> own;  // likeness, seed, release
  for (const auto& study : planned) {
    if (study.baseline->selection == nullptr || !study.cell.epsilon) continue;
    if (const auto selection = study.baseline->selection(study.cell))
      own.emplace(likeness(study.cell.base.dataset, selection->base), study.cell.base.seed,
                  study.cell.base.repetition / trial::kRepetitionsPerRelease);
  }
  std::optional<std::int64_t> latest;
  const auto paths = entries_of(out.journals());
  if (!paths) return paths.error();
  for (const auto& path : *paths) {
    if (path.extension() != ".jsonl" || known->trials.contains(path.stem().string())) continue;
    if (is_missing_journal(path.string())) continue;
    const auto journal = mechanism::read_journal(path.string());
    if (!journal) {
      latest = std::max(latest, std::optional<std::int64_t>(0));
      continue;
    }
    const auto& config = journal->config;
    if (!config.privacy.is_private || config.noise_seed || !config.evaluation.score) continue;
    const auto like = likeness(config.dataset, mechanism::events(config));
    const auto release = config.repetition / trial::kRepetitionsPerRelease;
    if (!known->has_selection(like, release) || own.contains({like, config.seed, release}))
      latest = std::max(latest, std::optional(release));
  }
  return latest;
}

Result<std::optional<std::int64_t>> latest_release_of_journals(const OutFolder& out) {
  const auto paths = entries_of(out.journals());
  if (!paths) return paths.error();
  std::optional<std::int64_t> latest;
  for (const auto& path : *paths) {
    if (path.extension() != ".jsonl") continue;
    const auto journal = mechanism::read_journal(path.string());
    if (journal)
      latest = std::max(latest, std::optional(journal->config.repetition / trial::kRepetitionsPerRelease));
  }
  return latest;
}

}  // namespace hyfreedp::runner
