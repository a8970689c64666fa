// The release record: a file beside the journals that says what a spec has released, so that no
// random draw is repeated and nothing that was booked is forgotten if the database is lost.
//
// Some methods choose at random how many runs to make, with which candidates or learning rates.
// Their key is deleted once every row of the spec has an answer. After that nothing else could tell
// which runs a row was computed from, so this file keeps the rows themselves.
//
// ROOT/journals/SPEC.releases.json (release_record_file.h) holds one record for each release:
//   - The record of a release is written with complete = false before anything is drawn, now and
//     then while rows end, at the end of every run, and with complete = true before the key is
//     deleted.
//   - Of rows that came to their end it contains what they release and nothing confidential. For a
//     private selection that is the distribution of the number of runs, the largest number of
//     events of each kind that any run executed, and the reported run; not the other runs' names or
//     their number. Of one that is open or cancelled it has its runs, too (mode 0600).
//   - A row that the record has and the database lacks is restored, together with the runs that it
//     lists, from their journals. Nothing is drawn or trained for it. Of an earlier release nobody
//     reads the rows any more: if the journal of one of its runs is lost, `runs` says what the run
//     cost, and the odometer counts it. A private selection that had begun and of which a journal
//     is lost too is not drawn again: it comes back as lost (results::kLostStudy), and its cost
//     stays.
// A spec with a `noise_seed` repeats the same draws, and its lost runs are made again: a row of
// which a journal is lost is not restored but made again. What it had released counts until then,
// too.
#pragma once

#include <optional>
#include <string>

#include "harness/runner/odometer/release_record_file.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

// Writes the rows that the database has of `spec` to its record. They replace the newest release if
// that has the same spec hash, and are appended otherwise. Returns an error if the database does
// not have the spec.
Result<void> write_release_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                                  bool complete);

// The same for a spec whose rows were changed otherwise (cancelled, opened again, answered by a run
// that ended before the spec was complete), which says nothing of draws.
Result<void> update_release_record(const results::Store& store, const OutFolder& out,
                                   const std::string& spec);

// The same before another spec or version takes its place, while it may be open: what its runs have
// cost by then is in the database, the journals and the keys alone, and its private selections that
// are open count as begun. To be called before the other one is put into the database.
Result<void> leave_release_record(const results::Store& store, const OutFolder& out, const std::string& spec);

// Adds to the record of `spec` in `into` what that of another folder knows beyond it: earlier
// releases, private selections that had begun, runs and their attempts.
Result<void> add_release_records(const OutFolder& from, const OutFolder& into, const std::string& spec);

// Returns what a private selection has released, as one that no database has; none if it has
// released nothing, or if an earlier version made it, which named no bookings.
std::optional<results::RetiredStudy> released_by(const RecordedStudy& recorded);

// True if the spec of that name and hash was begun under a key of draws that is not there any more,
// and has no answer for every row. Another spec may have had the name since, and deleted the key.
Result<bool> has_lost_its_draws(const OutFolder& out, const std::string& spec, const std::string& hash);

}  // namespace hyfreedp::runner
