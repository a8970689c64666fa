#include "harness/runner/execute/asked_runs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/random/partition.h"
#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/study_run.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/odometer/trial_book.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::runner {

namespace {

// The config of the run, from its journal or its key; none if neither can be read.
std::optional<trial::TrialConfig> config_of(const OutFolder& out, const std::string& run) {
  if (auto journal = mechanism::read_journal(out.journal(run))) return std::move(journal->config);
  const auto label = key_label(out.key(run));
  if (!label || !*label) return std::nullopt;
  auto config = trial::TrialConfig::from_json((**label).config, "key of " + run);
  return config ? std::optional(std::move(*config)) : std::nullopt;
}

// True also for a run on a part of the data.
bool is_on_data_of(const trial::TrialConfig& config, const baselines::Cell& cell) {
  const auto& data = cell.base.dataset;
  return config.dataset.name == data.name && random::without_part(config.dataset.options) == data.options;
}

}  // namespace

Result<void> AskedRuns::find_unknown() {
  std::set<std::string> runs;
  for (const auto& [folder, ending] :
       {std::pair(out_.journals(), ".jsonl"), std::pair(out_.keys(), ".key")}) {
    const auto paths = entries_of(folder);
    if (!paths) return paths.error();
    for (const auto& path : *paths) {
      const bool is_of_run =
          path.filename().string().ends_with(ending) && path.stem().extension() != ".draws";
      if (is_of_run) runs.insert(path.stem().string());
    }
  }
  const auto known = store_.trials();
  if (!known) return known.error();
  for (const auto& run : *known) runs.erase(run.id);
  for (const auto& run : runs) {
    if (auto config = config_of(out_, run)) unknown_.push_back(std::move(*config));
  }
  return {};
}

Result<AskedRuns> AskedRuns::read(results::Store& store, const OutFolder& out) {
  AskedRuns asked(store, out);
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto add = [&](const auto& study) { asked.enter(study.id, study.trials); };
  std::ranges::for_each(*studies, add);
  std::ranges::for_each(*retired, add);
  if (auto found = asked.find_unknown(); !found) return found.error();
  if (asked.unknown_.empty()) return asked;
  if (auto found = asked.find_asked(*studies); !found) return found.error();
  return asked;
}

void AskedRuns::enter(const std::string& study, const std::vector<std::string>& runs) {
  for (const auto& run : runs) studies_[run].insert(study);
}

bool AskedRuns::is_of_other(const std::string& run, const std::string& study) const {
  const auto known = studies_.find(run);
  return known != studies_.end() &&
         std::ranges::any_of(known->second, [&](const std::string& id) { return id != study; });
}

std::vector<std::string> AskedRuns::of(const std::string& study) const {
  const auto found = asked_.find(study);
  return found == asked_.end() ? std::vector<std::string>() : found->second;
}

Result<void> AskedRuns::find_asked(const std::vector<results::StudyRecord>& studies) {
  for (const auto& study : studies) {
    if (results::is_answered(study) && !results::is_cancelled(study)) continue;
    auto found = asked_by(study);
    if (!found) return found.error();
    if (found->empty()) continue;
    enter(study.id, *found);
    asked_.emplace(study.id, std::move(*found));
  }
  return {};
}

Result<std::vector<std::string>> AskedRuns::asked_by(const results::StudyRecord& study) {
  const auto planned = plan_of(study.spec);
  if (!planned) return planned.error();
  const auto own = std::ranges::find(**planned, study.id, &PlannedStudy::id);
  if (own == (**planned).end()) return std::vector<std::string>();
  const auto& cell = own->cell;
  // The row of a method that can be read in several ways does not say that it makes a selection
  // before that is booked.
  if (own->baseline->confidential_runs || !lists_its_runs(study.method, study.composition)) {
    // Runs of a row that the database has not booked stay unknown to it. Taken in, they would be
    // charged to another selection like theirs, and theirs not at all.
    const bool is_booked = study.composition.is_selection() && !study.composition.booking.empty();
    const bool is_told = cell.base.noise_seed || cell.draw_secret;
    if (!is_booked || !is_told) return std::vector<std::string>();
    auto runs = asked_by(*own, study);
    if (!runs) return runs;
    hidden_.insert(hidden_.end(), runs->begin(), runs->end());
    return std::vector<std::string>();
  }
  const bool may_be_own = std::ranges::any_of(unknown_, [&](const trial::TrialConfig& config) {
    return !config.noise_seed && is_on_data_of(config, cell);
  });
  if (may_be_own && !cell.base.noise_seed && !cell.draw_secret && draws_anything({*own})) {
    untold_.push_back(fmt::format(
        "{}: the key of this spec's draws is gone, and the folder has runs that its database lacks: which of "
        "them are those of the row {}, {} cannot be told, nor what it cost. Put the key or a newer database "
        "back from a copy.",
        out_.draw_key(study.spec), study.panel, study.row));
    return std::vector<std::string>();
  }
  return asked_by(*own, study);
}

Result<std::vector<std::string>> AskedRuns::asked_by(const PlannedStudy& planned,
                                                     const results::StudyRecord& study) {
  std::vector<std::string> runs;
  StudyRun run(planned, study.spec);
  TrialBook book(store_, out_);
  while (!run.is_waiting() && !run.is_over()) {
    for (const auto& config : run.advance()) {
      const auto id = config.id();
      const auto end = book.earlier(config);
      if (!end) return end.error();
      if (*end) run.receive((**end).trial);
      const bool has_begun =
          *end || !is_missing_journal(out_.journal(id)) || std::filesystem::exists(out_.key(id));
      const bool is_listed = std::ranges::count(study.trials, id) > 0;
      if (has_begun && !is_listed && !is_of_other(id, study.id)) runs.push_back(id);
    }
  }
  return runs;
}

Result<const std::vector<PlannedStudy>*> AskedRuns::plan_of(const std::string& spec) {
  if (const auto known = plans_.find(spec); known != plans_.end()) return &known->second;
  const auto record = store_.spec(spec);
  if (!record) return record.error();
  if (!*record) return &plans_[spec];
  auto content = results::spec_of(**record);
  if (!content) return content.error();
  auto plan = plan_release({.path = spec, .text = (**record).text, .content = std::move(*content)});
  if (!plan) return plan.error();
  if (auto shown = show_draws(out_, *plan, spec, (**record).hash); !shown) return shown.error();
  return &(plans_[spec] = std::move(*plan));
}

Result<void> AskedRuns::take_in_hidden() {
  TrialBook book(store_, out_);
  for (const auto& run : hidden_) {
    if (auto taken = book.take_in(run); !taken) return taken;
  }
  return {};
}

Result<std::vector<std::string>> list_asked_runs(results::Store& store, const OutFolder& out) {
  auto asked = AskedRuns::read(store, out);
  if (!asked) return asked.error();
  if (auto taken = asked->take_in_hidden(); !taken) return taken.error();
  auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (auto& study : *studies) {
    const auto found = asked->of(study.id);
    if (found.empty()) continue;
    study.trials.insert(study.trials.end(), found.begin(), found.end());
    if (auto put = store.put_study(study); !put) return put.error();
  }
  return asked->untold();
}

Result<FolderCopy> copy_of_folder(const OutFolder& out) {
  auto store = results::Store::open(out.database(), results::Store::Mode::scratch);
  if (!store) return store.error();
  if (auto restored = restore_from_records(**store, out); !restored) return restored.error();
  auto untold = list_asked_runs(**store, out);
  if (!untold) return untold.error();
  return FolderCopy{std::move(*store), std::move(*untold)};
}

}  // namespace hyfreedp::runner
