// The runs of which an output folder tells: its database, journals and keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/trial/event_tally.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// One run, as far as it got.
struct FoundRun {
  trial::TrialConfig config;
  std::vector<accounting::Event> executed;
  std::vector<trial::ChargedAttempt> attempts = {};  // which `executed` is of
  bool is_known = false;                             // to the database
  bool is_finished = false;                          // it came to its end
  bool is_final = false;                             // it will not go on
  bool has_begun = false;                            // it may have read the data
  bool has_validated = false;                        // has measured its accuracy on private data

  std::int64_t release() const { return config.repetition / trial::kRepetitionsPerRelease; }
  bool may_be_selected() const { return config.privacy.is_private && config.evaluation.score.has_value(); }
  trial::EventTally planned() const { return trial::EventTally(mechanism::events(config)); }
  std::vector<accounting::Event> charged() const {
    return is_finished ? executed : as_planned(config, executed);
  }
};
using FoundRuns = std::map<std::string, FoundRun>;

// All runs of the folder, by trial. What cannot be read is added to `unreadable`. An error of a
// config that is none.
Result<FoundRuns> found_runs(const results::Store& store, const OutFolder& out,
                             std::vector<std::string>& unreadable);

}  // namespace hyfreedp::runner
