#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/cli/common/study_choice.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/store/states.h"
#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kText = R"(
Says which specs an output folder holds, how many of their studies are done, which trials are under
way or were interrupted, and whether keys are left behind. Of private selections their studies
alone: how many runs they make is confidential.
Example: hyfreedp status --out out)";

Result<std::vector<fs::path>> files_in(const std::string& folder, const std::string& extension) {
  auto files = entries_of(folder);
  if (files) std::erase_if(*files, [&](const fs::path& path) { return path.extension() != extension; });
  return files;
}

Result<void> print_specs(const results::Store& store, std::ostream& out) {
  const auto specs = store.specs();
  if (!specs) return specs.error();
  if (specs->empty()) out << "No spec was run here yet.\n";
  for (const auto& spec : *specs) {
    const auto studies = store.studies(spec.name);
    if (!studies) return studies.error();
    out << fmt::format("{}  {}\n", spec.name, study_counts(*studies));
  }
  return {};
}

// Trials that may be told of: those that a study lists whose number of runs is public. A private
// selection that is open lists none.
Result<std::set<std::string>> public_trials(const results::Store& store) {
  std::set<std::string> known;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) {
    const bool is_public = study.state == results::StudyState::open || study.composition.shows_run_count();
    if (is_public) known.insert(study.trials.begin(), study.trials.end());
  }
  return known;
}

// Trials that go on, or that the next run continues: those of studies without an answer.
Result<std::set<std::string>> open_trials(const results::Store& store) {
  std::set<std::string> open;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  for (const auto& study : *studies) {
    if (!results::is_answered(study)) open.insert(study.trials.begin(), study.trials.end());
  }
  return open;
}

Result<void> print_journals(const results::Store& store, const runner::OutFolder& folder, bool at_work,
                            bool confidential, std::ostream& out) {
  const auto known = public_trials(store);
  if (!known) return known.error();
  const auto open = open_trials(store);
  if (!open) return open.error();
  const auto finished = store.finished_trials();
  if (!finished) return finished.error();
  bool first = true;
  bool has_unreadable = false;
  const auto journals = files_in(folder.journals(), ".jsonl");
  if (!journals) return journals.error();
  for (const auto& path : *journals) {
    const auto id = path.stem().string();
    // A long run's journal takes a while to read.
    if (finished->contains(id)) continue;
    const auto journal = mechanism::read_journal(path.string());
    if (journal && journal->finish) continue;
    if (!confidential && !known->contains(id)) {
      has_unreadable = has_unreadable || !journal;
      continue;
    }
    if (journal && !confidential && !open->contains(id)) continue;  // of a study that was cancelled
    if (first)
      out << (at_work ? "Trials under way:\n" : "Interrupted trials, which the next run continues:\n");
    first = false;
    if (!journal) {
      out << fmt::format("  {}  {}\n", id, journal.error().message);
      continue;
    }
    const auto step = journal->steps.empty() ? 0 : journal->steps.back().step + 1;
    out << fmt::format("  {}  {} on {}, step {}/{}\n", journal->trial, journal->config.model.name,
                       journal->config.dataset.name, step, journal->config.steps);
  }
  if (has_unreadable && !at_work) {
    out << "Some journal that may be a private selection's cannot be read; --confidential names it.\n";
  }
  return {};
}

// Their number would be that of interrupted runs.
Result<void> print_keys(const runner::OutFolder& folder, bool at_work, bool confidential, std::ostream& out) {
  const auto keys = files_in(folder.keys(), ".key");
  if (!keys) return keys.error();
  if (keys->empty() || at_work) return {};
  if (confidential) out << fmt::format("Noise keys: {}.\n", keys->size());
  out << fmt::format(
      "Noise keys are left behind in {}. Each resumes an interrupted trial or spec and is deleted when that "
      "is complete. Whoever holds one of a spec without noise_seed can take the noise off what was released, "
      "and without it such a run begins anew and is charged again.\n",
      folder.keys());
  return {};
}

struct StatusRequest {
  std::string out = "out";
  bool confidential = false;

  void describe(Options& options) {
    options.value(out, "out", "DIR", "output folder");
    options.flag(confidential, "confidential",
                 "also trials that may belong to a private selection, and the number of keys");
  }
};

Outcome status(const StatusRequest& request, std::ostream& out, std::ostream& err) {
  const auto& [root, confidential] = request;
  const runner::OutFolder folder{root};
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_only);
  if (!store) return store.error();
  if (confidential) out << results::kWatermark << "\n\n";
  const auto process = runner::FolderLock::holder(folder);
  if (process) out << fmt::format("Process {} works in {}.\n", *process, root);
  if (auto printed = print_specs(**store, out); !printed) {
    err << "hyfreedp status: " << printed.error().message << '\n';
    return 1;
  }
  if (auto printed = print_journals(**store, folder, process.has_value(), confidential, out); !printed) {
    err << "hyfreedp status: " << printed.error().message << '\n';
    return 1;
  }
  if (auto printed = print_keys(folder, process.has_value(), confidential, out); !printed)
    return printed.error();
  return 0;
}

}  // namespace

Command status_command() {
  return {"status", kText, action<StatusRequest>(status), "what an output folder holds, and what is missing",
          "hyfreedp status --out out"};
}

}  // namespace hyfreedp::cli
