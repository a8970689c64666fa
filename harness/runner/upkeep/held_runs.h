// The runs of a folder that is merged, and what two folders may say of one.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/trial/run_records.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// One of the folders.
struct Side {
  OutFolder out;
  const results::Store* store = nullptr;
};

// A run as one folder has it.
struct Held {
  results::TrialRecord record;  // charged
  // Its attempts, as journal and key tell of them, too.
  std::vector<trial::ChargedAttempt> told = {};
  bool is_final = false;  // in the database
  bool is_over = false;   // in the database or its journal
  bool has_journal = false;
  bool is_recorded = true;  // in the database, or a key says more than the journal
};

// Names without `extension` of the folder's files that have it; keys of draws aside. An error where
// the folder cannot be read.
Result<std::set<std::string>> stems(const std::string& folder, const std::string& extension);

// The error that tells of `what`, "a journal" say, without naming a run.
Error unreadable(const std::string& folder, const char* what);

// Returns what journal, key and record tell of a run that is not over in the database; none if it
// has none of the three.
Result<std::optional<Held>> open_run(const Side& side, const std::string& id,
                                     const std::optional<results::TrialRecord>& recorded);

// The run as the folder has it, whether it is over or not; none if the folder has nothing of it.
Result<std::optional<Held>> held(const Side& side, const std::string& id);

// Adds the attempts at a seeded run that another folder has to `all`. Attempts of one name are one,
// charged the larger of both; one that has no name may be any, and is added.
void add_attempts(std::vector<trial::ChargedAttempt>& all, const std::vector<trial::ChargedAttempt>& others);

// True if all that `part` is charged is a part of what `whole` is charged, attempt by attempt. An
// attempt without a nonce may be any.
bool is_contained(const std::vector<trial::ChargedAttempt>& part,
                  const std::vector<trial::ChargedAttempt>& whole);

// Returns the members in which two machines that made the same run must not differ.
json::object outcome_of(const results::TrialRecord& record);

}  // namespace hyfreedp::runner
