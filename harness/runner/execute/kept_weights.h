// `hyfreedp run --keep-weights`: keeps the weights of the runs that rows report, each with its
// metadata.
//
//   ROOT/staged-weights/SPEC/TRIAL
//       while the spec is in progress, as workers write them (harness/training/kept_weights.h)
//   ROOT/SPEC/weights/PANEL/ROW.eps-E.seed-S
//       what a row released; after --fresh or --retrain the name ends with `.release-R`, and the
//       folder of the earlier release stays
//   ROOT/SPEC/weights.confidential/PANEL/...
//       with --confidential: weights that are not a release, watermarked
// `weights:` or `adapter:` of a spec reads a folder of the last two kinds. Its trial.json says what
// was trained on which data, at which epsilon, and how to load it.
//
// Staged and confidential folders have mode 0700, because the staged trials show how many runs a
// private selection made. The staging folder is emptied when the spec is complete. Published files
// are copies that are made after the whole spec is over, so neither their times nor other staged
// files show in them. results/provenance/weights_release.h decides which rows may be published
// without --confidential.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// The weights that will be kept, as far as that is known before anything trains.
struct KeptForecast {
  std::size_t kept = 0, studies = 0;
  std::map<std::string, std::vector<std::string>> confidential;  // reasons, rows
};

struct KeptReport {
  std::vector<std::string> folders;  // published now or before, in the order of rows
  // Reasons, and the rows ("linear, prodigy") to which each applies.
  std::map<std::string, std::vector<std::string>> confidential;
  std::vector<std::string> lost;  // a sentence each: asked for, and not there
  // Trials whose files, or their start's, could not be read: still staged.
  std::set<std::string> waiting;
};

class KeptWeights {
 public:
  KeptWeights(OutFolder out, std::string spec, bool confidential);

  // Makes the staging folder, so that an error shows before anything trains.
  Result<void> open() const;
  // True if the weights of the study's runs are to be staged.
  bool wants(const PlannedStudy& study) const { return confidential_ || why_not(study).empty(); }
  // Says why the study's weights would be confidential, as far as it is known before it runs
  // (results/provenance/weights_release.h); empty: they would not be.
  std::string why_not(const PlannedStudy& study) const;
  KeptForecast foresee(const std::vector<PlannedStudy>& studies) const;
  std::string staged(const std::string& trial) const;
  void note_problem(const std::string& trial, const std::string& problem);
  // Folders of rows that have been released again since without their weights.
  std::vector<std::string> of_earlier_releases(const std::vector<PlannedStudy>& studies) const;
  // Publishes the weights of all concluded studies. A second call has the same result.
  Result<KeptReport> publish(const results::Store& store, const std::vector<PlannedStudy>& studies) const;

 private:
  Result<void> publish_one(const results::Store& store, const results::SpecRecord& spec,
                           const PlannedStudy& planned, KeptReport& report) const;

  OutFolder out_;
  std::string spec_;
  bool confidential_;
  std::map<std::string, std::string> problems_;  // by trial
};

// Removes the staged weights once no row of the spec is open, except those that still wait.
Result<void> discard_staged(const OutFolder& out, const std::string& spec,
                            const std::set<std::string>& waiting);

}  // namespace hyfreedp::runner
