// `hyfreedp merge`: brings what other output folders hold into one: specs, rows, runs and their
// journals, release records and retired rows. Never keys.
//
// All folders are compared before anything is written, and a contradiction refuses the whole merge.
// Equal things are one. What is compared:
//   spec    of one name has one hash
//   row     has one outcome (everything but its seconds). An open or failed row gives way to an
//           answered one
//   run     that is over has one outcome: config, state, notes, counts, events, metrics, and the
//           hashes of its steps. Machine, build and times may differ
//
// Epsilon. The noise of a seeded run can be repeated, so attempts that two machines made under one
// number are one release, and both are charged where they differ. An unseeded run that two
// machines made is two: its attempts have different nonces. Rows have the price of one, and could
// not show the other, so the merge is refused; the folders stay apart, each with its odometer. Of
// an unseeded run, one folder may have more attempts than another (a copy that went on): the larger
// charge, which has the smaller one in it, is taken.
// An unseeded spec that is in two folders has two keys of draws, which are two releases. Its rows
// can still make one table where each row was begun in one folder alone, as with `run --only
// seed=0` on one machine and `--only seed=1` on the other: every row shows the epsilon of its own
// release, and the odometer counts all. Rows that come from another folder must be over, since
// their draws cannot go on without its key. Seeds whose number a comparison decides are refused:
// each folder looked for itself. Where one folder is a copy of the other that went on, there is
// one key.
//
// A folder that gets rows whose number of runs is confidential becomes its owner's alone
// (close_to_others(), out_folder.h), and a note says so.
//
// A run that is not over comes with what it booked, as it is charged where its key is (charge.h).
// Its next attempt has no key here, so it has new noise and is charged in addition.
#pragma once

#include <string>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct MergeReport {
  std::vector<std::string> specs;  // that are new here
  std::size_t studies = 0;         // rows that are new here, or have an answer now
  std::size_t equal = 0;           // rows that were the same already
  std::vector<std::string> notes;  // sentences: what the user should know
};

// Brings `others` into `into`, whose lock the caller holds and whose database is `store`. An error
// whose message has a line for each contradiction; then nothing was written. What may be a hidden
// run of a private selection is not named in it.
Result<MergeReport> merge_folders(const OutFolder& into, results::Store& store,
                                  const std::vector<OutFolder>& others);

}  // namespace hyfreedp::runner
