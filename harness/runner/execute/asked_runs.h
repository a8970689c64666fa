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

// The runs that rows do not list, although their plans ask for them and the folder has a journal
// or a key of them: the database is an older copy, or all was killed before it was told of the
// run.
class AskedRuns {
 public:
  static Result<AskedRuns> read(results::Store& store, const OutFolder& out);

  // Puts into the database what journals and keys tell of the runs of open and cancelled private
  // selections, which no row lists. What is left, then, may be of a row that it does not know.
  Result<void> take_in_hidden();
  // Of an open or cancelled row, by its id; its later rounds of runs follow from how the earlier
  // ones ended. None that another row lists, whose it is then, none of a private selection, whose
  // runs are not listed, nor of a row that its spec does not have any more.
  std::vector<std::string> of(const std::string& study) const;
  // Rows of which nobody can tell which runs they asked for, a sentence for each: the key of the
  // spec's draws is lost, the row draws its runs, and one that the database does not have may be
  // among them.
  const std::vector<std::string>& untold() const { return untold_; }
  // True if another row or a retired one lists the run.
  bool is_of_other(const std::string& run, const std::string& study) const;

 private:
  AskedRuns(results::Store& store, const OutFolder& out) : store_(store), out_(out) {}
  void enter(const std::string& study, const std::vector<std::string>& runs);
  Result<void> find_unknown();
  Result<void> find_asked(const std::vector<results::StudyRecord>& studies);
  Result<const std::vector<PlannedStudy>*> plan_of(const std::string& spec);
  Result<std::vector<std::string>> asked_by(const results::StudyRecord& study);
  Result<std::vector<std::string>> asked_by(const PlannedStudy& planned, const results::StudyRecord& study);

  results::Store& store_;
  OutFolder out_;
  std::vector<trial::TrialConfig> unknown_;                 // runs that the database does not have
  std::map<std::string, std::set<std::string>> studies_;    // by the run that they list
  std::map<std::string, std::vector<PlannedStudy>> plans_;  // by spec
  std::map<std::string, std::vector<std::string>> asked_;   // by row
  std::vector<std::string> hidden_;                         // of private selections
  std::vector<std::string> untold_;
};

// Has the open and cancelled rows of the database list the runs that their plans ask for. Returns
// what AskedRuns::untold() does.
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
