// Which runs studies have asked for, where the database may be an older copy that does not list
// them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

class AskedRuns {
 public:
  // Reads which runs the studies of the database list, and which runs the folder has beside these.
  static Result<AskedRuns> read(results::Store& store, const OutFolder& out);

  // True if there is a journal or a key of a run that the database does not have: it is an older
  // copy, or all was killed before it was told of the run.
  bool has_unknown() const { return !unknown_.empty(); }
  // True if another study or a retired one lists the run, which is that one's then.
  bool is_of_other(const std::string& run, const std::string& study) const;

  // Returns the runs that the study does not list, although its plan asks for them and the folder
  // has a journal or a key of them. Later rounds of runs follow from how the earlier ones ended.
  // None that are another study's, none of a private selection, whose runs are not listed, nor of a
  // study that its spec does not have any more. An error where the key of the spec's draws is lost,
  // the study draws its runs, and one that the database does not have may be among them.
  Result<std::vector<std::string>> of(const results::StudyRecord& study);
  // The same, of a study that lists them from now on. None where nobody can tell which they are;
  // `untold` gets why.
  std::vector<std::string> take(const results::StudyRecord& study, std::vector<std::string>& untold);

 private:
  AskedRuns(results::Store& store, const OutFolder& out) : store_(store), out_(out) {}
  void enter(const std::string& study, const std::vector<std::string>& runs);
  Result<void> find_unknown();
  Result<const std::vector<PlannedStudy>*> plan_of(const std::string& spec);
  Result<std::vector<std::string>> of(const PlannedStudy& planned, const results::StudyRecord& study);

  results::Store& store_;
  OutFolder out_;
  std::vector<trial::TrialConfig> unknown_;
  std::map<std::string, std::set<std::string>> studies_;    // by the run that they list
  std::map<std::string, std::vector<PlannedStudy>> plans_;  // by spec
};

// Has the open and cancelled rows of the database list the runs that their plans ask for. Returns,
// a sentence for each row, of which nobody can tell which they are.
Result<std::vector<std::string>> list_asked_runs(results::Store& store, const OutFolder& out);

// What a folder tells, for commands that read it.
struct FolderCopy {
  // A copy of the database, which may be older than the rest of the folder, with what release
  // records, journals and keys tell beyond it.
  std::unique_ptr<results::Store> store;
  // Why it cannot be told which runs are whose (list_asked_runs()).
  std::vector<std::string> untold;
};
// Nothing of the folder is written. An error if it has no database.
Result<FolderCopy> copy_of_folder(const OutFolder& out);

}  // namespace hyfreedp::runner
