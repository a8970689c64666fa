// `hyfreedp doctor`: what is wrong with an output folder, and what of it can be mended without
// losing anything.
//
//   - Nothing is changed but by a finding's `repair`, and only what is safe is repaired:
//     permissions, and temporary files that killed processes left. Keys, journals, release records
//     and the database are never changed: they say what was released.
//   - No key is quoted.
//   - Without `confidential` nothing depends on how many runs a private selection made: what may be
//     one of its runs is neither named nor counted.
//   - While a run works in the folder, its journals, keys and temporary files are not judged.
//
// A further check is a function and a line in doctor_checks().
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct Finding {
  std::string where;    // a path
  std::string problem;  // a clause: "other users can read it"
  std::string remedy;   // a sentence: what to do
  std::string cost;     // a clause: what that costs; empty: nothing
  // The action of --repair; empty: nothing.
  std::function<Result<void>()> repair = {};
};

// The output folder that the checks look at.
struct Patient {
  OutFolder out;
  const results::Store* store = nullptr;  // null: it is missing or cannot be read
  bool confidential = false;
  bool at_work = false;            // a run works in it
  bool holds_lock = false;         // this process holds its lock
  std::set<std::string> nameable;  // trials that are no hidden runs of a private selection

  bool may_name(const std::string& trial) const { return confidential || nameable.contains(trial); }
};

struct DoctorCheck {
  const char* name;  // "permissions"; begins the line of a finding
  std::function<Result<std::vector<Finding>>(const Patient&)> check;
};
const std::vector<DoctorCheck>& doctor_checks();

struct Diagnosis {
  struct Found {
    std::string check;
    Finding finding;
  };
  std::vector<Found> findings;
  std::optional<int> worker;  // process that works in the folder
};

struct DoctorOptions {
  bool confidential = false;
  bool holds_lock = false;  // the caller holds the folder's lock: nobody else works in it
};

// An error where there is no such folder, or nothing of this program in it.
Result<Diagnosis> examine(const OutFolder& out, const DoctorOptions& options = {});

}  // namespace hyfreedp::runner
