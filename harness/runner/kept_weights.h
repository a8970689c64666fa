// `hyfreedp run --keep-weights`: weights of the runs that rows report, each with what may be said of it.
//
//   ROOT/staged-weights/SPEC/TRIAL      while the spec is under way: as workers write them (harness/training/kept_weights.h)
//   ROOT/SPEC/weights/PANEL/ROW.eps-E.seed-S                 what a row released; `.release-R` at its end after --fresh
//   ROOT/SPEC/weights.confidential/PANEL/...                 with --confidential: what is no release, watermarked
// Each of the last two is a folder that `weights:` (or `adapter:`) of a spec reads, with trial.json: what was trained on what, at
// which epsilon, and how to load it.
//
// Staging and what is confidential are of mode 0700: which trials are staged says how many runs a private selection made. Staging is
// emptied once the spec is complete. Published files are copies, made when the whole spec is over, so neither a time nor what else
// was staged shows in them. Which rows may be published without --confidential is for results/weights_release.h to say.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/out_folder.h"
#include "harness/runner/plan.h"
#include "results/store.h"

namespace hyfreedp::runner {

// As far as it is known before anything trains.
struct KeptForecast {
  std::size_t kept = 0, cells = 0;
  std::map<std::string, std::vector<std::string>> confidential;  // reasons, rows
};

struct KeptReport {
  std::vector<std::string> folders;  // published now or before, in the order of rows
  // Reasons and the rows ("linear, prodigy") to which each applies.
  std::map<std::string, std::vector<std::string>> confidential;
  std::vector<std::string> lost;  // a sentence each: asked for, and not there
  std::set<std::string> waiting;  // trials whose files, or their start's, could not be read: still staged
};

class KeptWeights {
 public:
  KeptWeights(OutFolder out, std::string spec, bool confidential);

  // Makes the staging folder: what cannot be written is known before anything trains.
  Result<void> open() const;
  // Whether the weights of the study's runs are to be staged.
  bool wants(const PlannedStudy& study) const { return confidential_ || why_not(study).empty(); }
  // As far as is known before it runs; results/weights_release.h.
  std::string why_not(const PlannedStudy& study) const;
  KeptForecast foresee(const std::vector<PlannedStudy>& studies) const;
  std::string staged(const std::string& trial) const;
  void note_problem(const std::string& trial, const std::string& problem);
  // Of all studies that are concluded. Again and again the same.
  Result<KeptReport> publish(const results::Store& store, const std::vector<PlannedStudy>& studies) const;

 private:
  Result<void> publish_one(const results::Store& store, const results::SpecRecord& spec,
                           const PlannedStudy& planned, KeptReport& report) const;

  OutFolder out_;
  std::string spec_;
  bool confidential_;
  std::map<std::string, std::string> problems_;  // by trial
};

// Once no row of the spec is open: all but what waits.
Result<void> discard_staged(const OutFolder& out, const std::string& spec,
                            const std::set<std::string>& waiting);

}  // namespace hyfreedp::runner
