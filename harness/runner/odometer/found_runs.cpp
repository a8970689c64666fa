#include "harness/runner/odometer/found_runs.h"

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

Result<FoundRun> run_of(const results::TrialRecord& record) {
  auto config = trial::TrialConfig::from_json(record.config, "trial " + record.id);
  if (!config) return config.error();
  const bool finished = record.state == trial::TrialState::finished;
  return FoundRun{.config = std::move(*config),
                  .executed = record.events,
                  .is_known = true,
                  .is_finished = finished,
                  .is_final = results::is_final(record),
                  .has_begun = finished || (record.state == trial::TrialState::failed &&
                                            !results::is_setup_failure(record.failure_kind)),
                  .has_validated = finished};
}

Result<FoundRun> run_of(const random::KeyLabel& key) {
  auto config = trial::TrialConfig::from_json(key.config, "the key file of trial " + key.trial);
  if (!config) return config.error();
  return FoundRun{.config = std::move(*config), .executed = {}, .has_begun = true};
}

FoundRun run_of(mechanism::Journal journal) {
  FoundRun run{.config = std::move(journal.config), .executed = std::move(journal.executed)};
  const auto& finish = journal.finish;
  run.is_finished = finish && finish->state == trial::TrialState::finished;
  run.is_final =
      finish && (finish->state == trial::TrialState::finished || !results::may_be_tried_again(finish->kind));
  run.has_begun = !journal.steps.empty() || journal.has_undone_steps ||
                  (finish && !results::is_setup_failure(finish->kind));
  auto splits = std::move(journal.undone_splits);
  for (const auto& metric : journal.metrics) splits.insert(metric.split);
  run.has_validated = splits.contains(trial::kValidationSplit) || splits.contains(trial::kTrainSplit);
  return run;
}

std::vector<std::filesystem::path> files_in(const std::string& folder, const std::string& extension,
                                            std::vector<std::string>& unreadable) {
  auto paths = entries_of(folder);
  if (!paths) {
    unreadable.push_back(paths.error().message);
    return {};
  }
  std::erase_if(*paths, [&](const auto& path) { return path.extension() != extension; });
  return std::move(*paths);
}

// Labels of the keys of runs, by trial. A key of the first format says no more than that its
// journal must be there.
std::map<std::string, random::KeyLabel> keys_of_runs(const OutFolder& out,
                                                     std::vector<std::string>& unreadable) {
  std::map<std::string, random::KeyLabel> labels;
  for (const auto& path : files_in(out.keys(), ".key", unreadable)) {
    const auto id = path.stem().string();
    if (path.stem().extension() == ".draws") continue;
    auto label = key_label(path.string());
    if (!label) {
      unreadable.push_back(label.error().message);
    } else if (*label) {
      labels.emplace(id, std::move(**label));
    } else if (is_missing_journal(out.journal(id))) {
      unreadable.push_back(path.string() + ": the journal of the run that this key was made for is missing");
    }
  }
  return labels;
}

// Reads runs from journals, keys and the database's records of runs that are not over.
class RunReader {
 public:
  RunReader(FoundRuns& runs, const OutFolder& out, const std::map<std::string, random::KeyLabel>& labels,
            const std::map<std::string, results::TrialRecord>& records)
      : runs_(runs), out_(out), labels_(labels), records_(records) {}

  Result<void> add(mechanism::Journal journal) {
    const std::string id = journal.trial;
    auto charged = charge(id, &journal);
    if (!charged) return charged.error();
    const auto known = runs_.find(id);
    auto run = run_of(std::move(journal));
    run.executed = trial::events_of(*charged);
    run.attempts = std::move(*charged);
    run.is_known = known != runs_.end();
    run.has_begun = run.has_begun || (run.is_known && known->second.has_begun);
    runs_[id] = std::move(run);
    read_.insert(id);
    return {};
  }

  // Adds the runs whose journal is gone.
  Result<void> add_others() {
    for (const auto& [id, label] : labels_) {
      if (runs_.contains(id)) continue;
      auto run = run_of(label);
      if (!run) return run.error();
      runs_.emplace(id, std::move(*run));
    }
    for (auto& [id, run] : runs_) {
      if (read_.contains(id) || run.is_final) continue;
      auto charged = charge(id, nullptr);
      if (!charged) return charged.error();
      run.executed = trial::events_of(*charged);
      run.attempts = std::move(*charged);
      const auto record = records_.find(id);
      const bool was_under_way = record != records_.end() && record->second.begun_after;
      run.has_begun = run.has_begun || was_under_way || labels_.contains(id);
      run.has_validated = run.has_begun;  // for all that is known
    }
    return {};
  }

 private:
  Result<std::vector<trial::ChargedAttempt>> charge(const std::string& id,
                                                    const mechanism::Journal* journal) const {
    const auto label = labels_.find(id);
    const auto record = records_.find(id);
    return charge_of({.journal = journal,
                      .key = label != labels_.end() ? std::optional(label->second) : std::nullopt,
                      .recorded = record != records_.end() ? &record->second : nullptr});
  }

  FoundRuns& runs_;
  const OutFolder& out_;
  const std::map<std::string, random::KeyLabel>& labels_;
  const std::map<std::string, results::TrialRecord>& records_;
  std::set<std::string> read_;
};

}  // namespace

Result<FoundRuns> found_runs(const results::Store& store, const OutFolder& out,
                             std::vector<std::string>& unreadable) {
  FoundRuns runs;
  const auto records = store.trials();
  if (!records) return records.error();
  std::map<std::string, results::TrialRecord> open;
  for (const auto& record : *records) {
    auto run = run_of(record);
    if (!run) return run.error();
    if (!run->is_final) {
      open.emplace(record.id, record);
    } else if (auto charged = charge_of_ended(out, record)) {
      if (!charged->empty()) run->executed = trial::events_of(*charged);
      run->attempts = std::move(*charged);
    } else {
      unreadable.push_back(charged.error().message);
    }
    runs.emplace(record.id, std::move(*run));
  }
  const auto labels = keys_of_runs(out, unreadable);
  RunReader reader(runs, out, labels, open);
  for (const auto& path : files_in(out.journals(), ".jsonl", unreadable)) {
    const auto known = runs.find(path.stem().string());
    if (known != runs.end() && known->second.is_final) continue;
    auto journal = mechanism::read_journal(path.string());
    if (!journal) {
      if (!is_missing_journal(path.string())) unreadable.push_back(journal.error().message);
    } else if (auto added = reader.add(std::move(*journal)); !added) {
      return added.error();
    }
  }
  if (auto added = reader.add_others(); !added) return added.error();
  return runs;
}

}  // namespace hyfreedp::runner
