#include "harness/runner/upkeep/doctor_runs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "harness/base/text.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/trial_book.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<Finding>;

std::vector<fs::path> files_with(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Findings about trials. Trials that may be runs of a private selection give one finding of their
// kind without a name, however many there are.
class OfTrials {
 public:
  OfTrials(const Patient& patient, std::string folder) : patient_(patient), folder_(std::move(folder)) {}

  // `hidden`: the finding's problem where the trial must not be named.
  void add(const std::string& trial, Finding finding, const std::string& hidden) {
    if (patient_.may_name(trial)) {
      found_.push_back(std::move(finding));
      return;
    }
    finding.where = folder_;
    finding.problem = hidden + "; --confidential names it";
    hidden_.emplace(hidden, std::move(finding));
  }

  Findings take() {
    for (auto& [problem, finding] : hidden_) found_.push_back(std::move(finding));
    return std::move(found_);
  }

 private:
  const Patient& patient_;
  std::string folder_;
  Findings found_;
  std::map<std::string, Finding> hidden_;
};

constexpr const char* kWholeRun = "the epsilon of at most one whole run is charged again";

// Rows that were rebuilt from a release record do not list the runs of their private selection: the
// database lacks these for good.
Result<bool> has_unlisted_runs(const results::Store& store) {
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto is_unlisted = [](const auto& one) { return one.composition.unlisted.has_value(); };
  return std::ranges::any_of(*studies, is_unlisted) || std::ranges::any_of(*retired, is_unlisted);
}

// True if an unseeded spec has a row that the next run goes on with.
Result<bool> has_open_rows(const results::Store& store) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  for (const auto& spec : *specs) {
    if (has_seeded_noise(spec)) continue;
    const auto studies = store.studies(spec.name);
    if (!studies) return studies.error();
    if (!std::ranges::all_of(*studies, results::is_answered)) return true;
  }
  return false;
}

// The key of a spec's draws.
Result<void> judge_draws(const Patient& patient, const fs::path& path, Findings& found) {
  const auto spec = path.stem().stem().string();
  const auto known = patient.store->spec(spec);
  if (!known) return known.error();
  const auto studies = patient.store->studies(spec);
  if (!studies) return studies.error();
  if (*known && (studies->empty() || !std::ranges::all_of(*studies, results::is_answered))) return {};
  if (std::ranges::any_of(*studies, results::is_cancelled)) return {};  // `retry` may need it
  found.push_back({.where = path.string(),
                   .problem = *known ? "the key of the spec's draws is left though every row has its answer"
                                     : "the database does not have the spec whose draws this key makes",
                   .remedy = *known ? "Run the spec again, which deletes it."
                                    : "Run the spec again; it goes on with the same draws.",
                   .cost = "no training"});
  return {};
}

class KeyJudge {
 public:
  explicit KeyJudge(const Patient& patient) : patient_(patient), of_trials_(patient, patient.out.keys()) {}

  Result<Findings> judge() {
    Findings of_draws;
    for (const auto& path : files_with(patient_.out.keys(), ".key")) {
      if (path.stem().extension() == ".draws") {
        if (auto judged = judge_draws(patient_, path, of_draws); !judged) return judged.error();
      } else if (auto judged = judge_run(path); !judged) {
        return judged.error();
      }
    }
    if (auto judged = judge_keyless(); !judged) return judged.error();
    auto found = of_trials_.take();
    std::ranges::move(of_draws, std::back_inserter(found));
    return found;
  }

 private:
  Result<void> judge_run(const fs::path& path) {
    const auto id = path.stem().string();
    const auto label = key_label(path.string());
    if (!label) {
      of_trials_.add(
          id,
          {.where = path.string(),
           .problem = "the key cannot be read",
           .remedy = "Mend its mode (chmod 600) or put it back from a copy; its run is refused until then.",
           .cost = "without it, " + std::string(kWholeRun)},
          "a key in it cannot be read");
      return {};
    }
    const auto known = patient_.store->trial(id);
    if (!known) return known.error();
    if (*known && results::is_final(**known)) {
      of_trials_.add(id,
                     {.where = path.string(),
                      .problem = "the key of a finished run is left; whoever holds it can take the noise off",
                      .remedy = "Run its spec again, which deletes it.",
                      .cost = "no training"},
                     "a key of a finished run is left; whoever holds it can take the noise off");
    } else if (is_missing_journal(patient_.out.journal(id))) {
      of_trials_.add(id,
                     {.where = path.string(),
                      .problem = "the journal of the run that this key was made for is lost",
                      .remedy = "Put the journal back from a copy.",
                      .cost = "without it, every attempt up to the key's is charged whole"},
                     "the journal of a run is lost whose key is there");
    }
    return {};
  }

  // Interrupted runs that were begun and have no key.
  Result<void> judge_keyless() {
    const auto open = has_open_rows(*patient_.store);
    if (!open) return open.error();
    if (!*open) return {};  // keys of what was given up are deleted when every row has its answer
    for (const auto& path : files_with(patient_.out.journals(), ".jsonl")) {
      const auto journal = mechanism::read_journal(path.string());
      if (!journal || journal->config.noise_seed || has_lasting_end(*journal)) continue;
      if (journal->executed.empty() || fs::exists(patient_.out.key(journal->trial))) continue;
      of_trials_.add(journal->trial,
                     {.where = patient_.out.key(journal->trial),
                      .problem = "the key of an interrupted run is lost, so its next attempt has new noise",
                      .remedy = "Put the key back from a copy before the next run, if there is one.",
                      .cost = "without it, what was booked stays charged, and " + std::string(kWholeRun)},
                     "the key of an interrupted run is lost, so its next attempt has new noise");
    }
    return {};
  }

  const Patient& patient_;
  OfTrials of_trials_;
};

}  // namespace

Result<Findings> check_journals(const Patient& patient) {
  if (patient.at_work) return Findings{};
  bool lists_all = patient.store != nullptr;
  if (patient.store != nullptr) {
    const auto unlisted = has_unlisted_runs(*patient.store);
    if (!unlisted) return unlisted.error();
    lists_all = !*unlisted;
  }
  OfTrials found(patient, patient.out.journals());
  for (const auto& path : files_with(patient.out.journals(), ".jsonl")) {
    const auto id = path.stem().string();
    // The run's worker was killed before it wrote a line.
    if (is_missing_journal(path.string())) continue;
    const auto journal = mechanism::read_journal(path.string());
    if (!journal) {
      found.add(id,
                {.where = path.string(),
                 .problem = "the journal was changed after it was written, or cannot be read (" +
                            journal.error().message + ")",
                 .remedy = "Put back an unchanged copy. Do not delete it: it says what its run released.",
                 .cost = "without it, only --fresh goes on, which releases the spec's data again"},
                "a journal was changed after it was written, or cannot be read");
      continue;
    }
    if (journal->trial != id) {
      found.add(id,
                {.where = path.string(),
                 .problem = "the journal is of the trial " + journal->trial,
                 .remedy = "Give the file that name again.",
                 .cost = ""},
                "a journal has the name of another trial");
      continue;
    }
    if (patient.store == nullptr) continue;
    const auto known = patient.store->trial(id);
    if (!known) return known.error();
    const bool may_be_unlisted = journal->config.privacy.is_private && journal->config.evaluation.score;
    if (*known || (may_be_unlisted && !lists_all)) continue;
    found.add(id,
              {.where = path.string(),
               .problem = "the database does not have this run",
               .remedy = "Run its spec again, which takes it in. The odometer counts it already.",
               .cost = "no training, if the run is over"},
              "the database does not have a run that has a journal");
  }
  return found.take();
}

Result<Findings> check_keys(const Patient& patient) {
  if (patient.at_work || patient.store == nullptr) return Findings{};
  return KeyJudge(patient).judge();
}

Result<Findings> check_checkpoints(const Patient& patient) {
  if (patient.at_work) return Findings{};
  OfTrials found(patient, patient.out.all_checkpoints());
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(patient.out.all_checkpoints(), absent)) {
    const auto id = entry.path().filename().string();
    const auto path = patient.out.journal(id);
    const auto journal = mechanism::read_journal(path);
    const bool is_over = journal && has_lasting_end(*journal);
    // The checkpoints are of use, or the journal can be mended.
    if (!is_over && !is_missing_journal(path)) continue;
    const std::string problem = is_over ? "checkpoints of a run that is over are left"
                                        : "checkpoints are left of a run whose journal is lost";
    found.add(id,
              {.where = entry.path().string(),
               .problem = problem,
               .remedy = "Run its spec again, which deletes them.",
               .cost = is_over ? "no training" : ""},
              problem);
  }
  return found.take();
}

Result<Findings> check_releases(const Patient& patient) {
  Findings found;
  const auto specs = specs_with_records(patient.out);
  if (!specs) return specs.error();
  for (const auto& spec : *specs) {
    if (read_release_records(patient.out, spec)) continue;
    found.push_back({.where = patient.out.release_record(spec),
                     .problem = "the release record cannot be read or was changed",
                     .remedy = "Put it back from a copy.",
                     .cost = "without it, its spec is refused in this folder"});
  }
  return found;
}

}  // namespace hyfreedp::runner
