// The keys of an output folder that `hyfreedp run` makes and deletes itself: that of a spec's
// draws, and those of runs that nothing needs any more. (The key of a run's noise is its worker's.)
// Called by the coordinator, under the folder's lock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// Draws of an unseeded spec come from a key of the system's entropy that lives as long as a study
// is open. It is made once a release: a second one would draw other runs, and release the same data
// again. Gives the studies what they draw from, and returns the key's file; nothing where all have
// an answer in `recorded` (by study id). An error where the key is gone and studies that draw are
// open; without any, no other key is made, since the others need none of what was drawn.
Result<std::optional<std::string>> hide_draws(const OutFolder& out, std::vector<PlannedStudy>& planned,
                                              const Spec& spec,
                                              const std::map<std::string, results::StudyRecord>& recorded);

// Gives studies that `cap` reserves what they draw from, where an earlier run of the spec has made
// the key: their runs are those that will be asked for. A key that is not the one of the spec of
// that hash, as its release record names it, gives them nothing. Nothing is made.
Result<void> show_draws(const OutFolder& out, std::vector<PlannedStudy>& planned, const std::string& spec,
                        const std::string& hash);

// Once all studies have an answer: completes the spec's release record, which says from then on
// what came of the draws, and deletes their key; not while a study that draws is cancelled, with
// which `retry` may go on.
Result<void> forget_draws(const results::Store& store, const OutFolder& out, const Spec& spec);

// Deletes the keys and checkpoints of runs that --fresh and --replace gave up, once every row of
// the folder is there. Before that it deletes nothing: a trial does not say which spec wanted it,
// and an edited spec may go on with it.
Result<void> delete_abandoned_keys(const results::Store& store, const OutFolder& out, TrialBook& book);

}  // namespace hyfreedp::runner
