// Puts what release records (release_record.h) tell into a database that lost it or never had it:
// an empty one, an older copy, or that of another copy of the folder.
#pragma once

#include <map>
#include <set>
#include <string>

#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// For each spec with a record the rows of its newest release and, as retired ones, those of earlier
// releases. Where the spec's present form in the database is in no record, all of these are retired
// ones. What runs cost comes back also where a row cannot, for want of its journal, and so do
// attempts of a run that is over which are in the record and not in the database. Returns, by spec,
// why a row cannot come back. Records that cannot be read are passed over; the odometer names them
// (Odometer::unreadable). Nothing of the folder is written, so that `store` may be a copy
// (results::Store::Mode::scratch).
Result<std::map<std::string, std::string>> restore_from_records(results::Store& store, const OutFolder& out);

// The same for a run of `spec`: an error where its record cannot be read or, unless `fresh`, a row
// of it cannot come back, which a new release does without. What is wrong with the rows of another
// spec is told when that one is run.
Result<void> restore_for(results::Store& store, const OutFolder& out, const std::string& spec,
                         bool fresh = false);

// Restores the rows of `spec` that have an answer in any of its recorded releases and whose ids are
// in `studies`. After --replace, cells that the new spec shares with the old one are therefore not
// drawn again. Returns an error if a journal that a row needs is missing or damaged.
Result<void> restore_rows(results::Store& store, const OutFolder& out, const std::string& spec,
                          const std::set<std::string>& studies);

// A row that had its answer, and whose reported run is lost: it keeps its price, and no command
// makes it again.
results::StudyRecord as_lost(results::StudyRecord study);

// The compositions, by booking, of private selections that rows of the folder have made, also in
// earlier releases, and whose reported run is lost.
Result<std::map<std::string, trial::Composition>> lost_selections(const results::Store& store,
                                                                  const OutFolder& out);

// Adds to a row that the database has as cancelled `runs` that began after it was opened again, and
// takes these from their journals. price_cancelled_again() (execute/) prices the row, which has no
// price then. A seed that was booked ahead is charged all that it allows already.
Result<void> add_later_runs(results::Store& store, const OutFolder& out, results::StudyRecord cancelled,
                            const std::vector<std::string>& runs);

}  // namespace hyfreedp::runner
