// Studies that their user ends (`hyfreedp cancel`) and opens again (`hyfreedp retry`).
//
// A cancelled study is `failed: cancelled`. It counts as answered, so that runs of its spec leave
// it alone. Runs that began, or were booked ahead, stay charged as planned (odometer/charge.h):
// whoever cancels has seen what was released, so a charge of the steps up to there would be no
// bound.
//   - its runs that have released anything, to their last step, composed in sequence, whatever its
//     method would have reported;
//   - a private selection whole, at the price that was booked when it opened, or the dearest that a
//     run like its own executed. Which runs are its own is not recorded, and how many there were
//     shows nowhere;
//   - a seed of a comparison that decides how many there are (StudyRun::book_seed): all that the
//     spec allows, also where it has not begun;
//   - another study of which nothing was drawn or begun: nothing.
// The decision to cancel may depend on what is shown, since that is released. A decision that
// depends on hidden runs (owner-only files, --confidential) is another release, which nothing here
// prices.
#pragma once

#include <optional>
#include <string>

#include "harness/runner/execute/study_epsilon.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/trial/event_tally.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// The most that one seed of the study's row was to release, of the runs that the database knows.
// Nothing where the method asks for all its runs at once: what is booked of a seed is all of it.
Result<trial::EventTally> dearest_seed(const results::Store& store, const results::StudyRecord& study);

// The record of `study`, which has no answer, as a cancelled one, with its ε. Its runs have ended,
// or are another study's too. Nothing is written. An error if what a run executed cannot be read.
Result<results::StudyRecord> as_cancelled(const results::Store& store, const OutFolder& out,
                                          results::StudyRecord study);

// Writes cancelled studies anew, in the database and in their specs' release records, whose runs
// cost more than they say: a row that went on has begun another attempt of a run of theirs. One of
// which a file cannot be read stays as it is.
Result<void> price_cancelled_again(results::Store& store, const OutFolder& out);

// To be called by a command that changes the folder, before it does anything else and while no
// worker is there: the database may be an older copy, or all was killed before it was told. Runs
// that were under way are interrupted ones.
// Studies that are open or cancelled list the runs that their plans ask for and of which journals
// or keys tell (asked_runs.h), what these say of listed runs is in the database, and cancelled ones
// are priced by it. Specs that have no release record, since it is lost or a version before 0.7 did
// not write it, get one then. A study stays as it is if a journal or key of it cannot be read. An
// error, before any row is written, where nobody can tell which runs are whose
// (AskedRuns::untold()); others are those of the database.
Result<void> catch_up(results::Store& store, const OutFolder& out);

// To be called before a cancelled private selection is opened again. If the database lacks runs
// that its record tells of, what they cost stays there as that of a retired row.
Result<void> keep_lost_cost(results::Store& store, const results::StudyRecord& study);

// The record as that of an open study: the next run of the spec goes on with it. The booking of a
// private selection or of a seed stays.
results::StudyRecord as_reopened(results::StudyRecord study);

// Says why `retry` cannot open the study again, as a sentence; none if it can (cancelled, or failed
// through the machine). `seeded`: its spec has a noise_seed.
std::optional<std::string> why_not_retried(const results::StudyRecord& study, bool seeded);

// "linear, prodigy, ε 3, seed 0"
std::string study_text(const results::StudyRecord& study);

}  // namespace hyfreedp::runner
