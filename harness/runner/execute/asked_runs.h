// Which runs studies have asked for, where the database may be an older copy that does not list
// them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

class AskedRuns {
 public:
  // Reads which runs the studies of the database list, and whether the folder has others.
  static Result<AskedRuns> read(results::Store& store, const OutFolder& out);

  // True if there is a journal or a key of a run that the database does not have: it may be an
  // older copy.
  bool has_unknown() const { return has_unknown_; }
  // True if another study or a retired one lists the run, which is that one's then.
  bool is_of_other(const std::string& run, const std::string& study) const;

  // Returns the runs that the study does not list, although its plan asks for them and the folder
  // has a journal or a key of them. Later rounds of runs follow from how the earlier ones ended.
  // None that are another study's, none of a private selection, whose runs are not listed, nor of a
  // study that its spec does not have any more. An error where the key of the spec's draws is lost,
  // the study draws its runs, and there are some that the database does not have.
  Result<std::vector<std::string>> of(const results::StudyRecord& study);
  Result<std::vector<std::string>> of(const PlannedStudy& planned, const results::StudyRecord& study);

  // Adds them to the list of an open study, and what journals and keys tell of all that it lists to
  // the database.
  Result<void> complete(results::StudyRecord& study);
  Result<void> complete(const PlannedStudy& planned, results::StudyRecord& study);

 private:
  AskedRuns(results::Store& store, const OutFolder& out) : store_(store), out_(out) {}
  Result<const std::vector<PlannedStudy>*> plan_of(const std::string& spec);
  Result<void> add(const std::vector<std::string>& runs, results::StudyRecord& study);

  results::Store& store_;
  OutFolder out_;
  bool has_unknown_ = false;
  std::map<std::string, std::set<std::string>> studies_;    // by the run that they list
  std::map<std::string, std::vector<PlannedStudy>> plans_;  // by spec
};

}  // namespace hyfreedp::runner
