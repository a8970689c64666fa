#include "harness/runner/upkeep/doctor.h"

#include <filesystem>
#include <fmt/format.h>

#include "harness/base/program.h"
#include "harness/base/text.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/upkeep/doctor_files.h"
#include "harness/runner/upkeep/doctor_runs.h"
#include "results/store/integrity.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

using Findings = std::vector<Finding>;

constexpr std::uintmax_t kLeastFree = 1'000'000'000;  // bytes

Result<Findings> check_database(const Patient& patient) {
  const auto path = patient.out.database();
  if (!fs::exists(path)) {
    return Findings{{.where = path,
                     .problem = "the database is missing",
                     .remedy = "Put it back from a copy, or run each spec again: rows of unseeded specs are "
                               "rebuilt from release records and journals, and nothing is trained anew where "
                               "these are whole.",
                     .cost = ""}};
  }
  const auto problems = results::integrity_problems(path);
  if (!problems || (problems->empty() && patient.store == nullptr)) {
    const auto opened = results::Store::open(path, results::Store::Mode::read_only);
    const auto why = !problems ? problems.error().message : opened ? "" : opened.error().message;
    return Findings{{.where = path,
                     .problem = fmt::format("it cannot be opened ({})", why),
                     .remedy = "Put it back from a copy, and keep this file: it may be the only record of "
                               "what private selections released.",
                     .cost = ""}};
  }
  Findings found;
  for (const auto& problem : *problems) {
    found.push_back({.where = path,
                     .problem = problem,
                     .remedy =
                         "Put the file back from a copy. Without one, move it away (do not delete it) "
                         "and run each spec again, which rebuilds rows from release records and journals.",
                     .cost = ""});
  }
  return found;
}

Result<Findings> check_lock(const Patient& patient) {
  if (patient.at_work || patient.holds_lock || !FolderLock::is_held(patient.out)) return Findings{};
  return Findings{{.where = patient.out.lock(),
                   .problem = "the lock is held, but the process that wrote its number is gone",
                   .remedy = "Wait some seconds for the workers of a killed run to end. If they do not, end "
                             "the hyfreedp-worker processes.",
                   .cost = "they continue from their journals in the next run"}};
}

Result<Findings> check_space(const Patient& patient) {
  std::error_code failure;
  const auto space = fs::space(patient.out.root, failure);
  if (failure || space.available >= kLeastFree) return Findings{};
  return Findings{
      {.where = patient.out.root,
       .problem = fmt::format("{} are free on its disk, less than {}", bytes_text(space.available),
                              bytes_text(kLeastFree)),
       .remedy = "Free some space before the next run, which stops where a journal cannot be written.",
       .cost = ""}};
}

Result<Findings> check_tools(const Patient&) {
  Findings found;
  if (const auto worker = find_worker(); !worker) {
    found.push_back({.where = "hyfreedp-worker",
                     .problem = "the program that trains is missing",
                     .remedy = worker.error().message,
                     .cost = ""});
  }
  if (!find_program("gnuplot")) {
    found.push_back({.where = "gnuplot",
                     .problem = "the program is not installed, so no plots are drawn",
                     .remedy = "Debian: apt-get install gnuplot-nox.",
                     .cost = ""});
  }
  return found;
}

// Trials that a row lists whose number of runs is public. A private selection that is open lists
// none.
Result<std::set<std::string>> nameable_trials(const results::Store& store) {
  std::set<std::string> known;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) {
    if (study.state == results::StudyState::open || study.composition.shows_run_count()) {
      known.insert(study.trials.begin(), study.trials.end());
    }
    if (!study.reported_trial.empty()) known.insert(study.reported_trial);
  }
  return known;
}

}  // namespace

const std::vector<DoctorCheck>& doctor_checks() {
  static const std::vector<DoctorCheck> all = {
      {"database", check_database},
      {"permissions", check_permissions},
      {"leftover files", check_leftovers},
      {"lock", check_lock},
      {"journals", check_journals},
      {"keys", check_keys},
      {"checkpoints", check_checkpoints},
      {"release record", check_releases},
      {"staged weights", check_staged_weights},
      {"free space", check_space},
      {"programs", check_tools},
  };
  return all;
}

Result<Diagnosis> examine(const OutFolder& out, const DoctorOptions& options) {
  if (!fs::is_directory(out.root)) return error(fmt::format("there is no folder {}.", out.root));
  std::unique_ptr<results::Store> store;
  if (auto opened = results::Store::open(out.database(), results::Store::Mode::read_only)) {
    store = std::move(*opened);
  } else if (!fs::exists(out.database()) && !fs::exists(out.journals())) {
    return opened.error();
  }
  Diagnosis diagnosis;
  if (!options.holds_lock) diagnosis.worker = FolderLock::holder(out);
  Patient patient{.out = out,
                  .store = store.get(),
                  .confidential = options.confidential,
                  .at_work = diagnosis.worker.has_value(),
                  .holds_lock = options.holds_lock,
                  .nameable = {}};
  if (store != nullptr) {
    // A value that cannot be read is the database's finding.
    if (auto trials = nameable_trials(*store)) {
      patient.nameable = std::move(*trials);
    } else {
      diagnosis.findings.push_back({"database",
                                    {.where = out.database(),
                                     .problem = "a value in it cannot be read",
                                     .remedy = trials.error().message,
                                     .cost = ""}});
      patient.store = nullptr;
    }
  }
  for (const auto& check : doctor_checks()) {
    auto found = check.check(patient);
    if (!found) return in_context(check.name, found.error());
    for (auto& finding : *found) diagnosis.findings.push_back({check.name, std::move(finding)});
  }
  return diagnosis;
}

}  // namespace hyfreedp::runner
