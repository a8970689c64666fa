// What a spec without `noise_seed` has released, durable beside the journals, so that a lost
// database makes nothing draw again.
//
// Methods that draw (how many runs, which candidates, which rates) draw from a key that is deleted
// once every row of the spec is there. From then on nobody can say again which runs a row rests on,
// so the answer itself is kept:
//
//   ROOT/journals/SPEC.releases.json     mode 0600, replaced as a whole, synced
//   {"format": "hyfreedp-releases", "version": 1, "spec": SPEC,
//    "releases": [{"hash", "resolved", "text", "program",   the spec as the database has it; the number of the release is in `resolved`
//                  "complete": whether every row was there, and the key was to be deleted,
//                  "studies": [{"study": its record, "journals": [trials whose journals the row needs]}]}],   oldest first
//    "checksum": SHA-256 of the canonical JSON without this member}
//
//   - The record of a release is written, open, before anything is drawn for it, and complete
//     before its key is deleted.
//   - It holds what the rows release and nothing else. Of a private selection: the law of the
//     number of runs, what the dearest run executed, and the reported run; neither the others'
//     names nor their number.
//   - A row that the record has and the database does not is put back, with the runs that it lists,
//     from their journals. Nothing is drawn or trained for it.
// Specs with a `noise_seed` need none: the same spec draws the same again.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/runner/out_folder.h"
#include "results/store.h"

namespace hyfreedp::runner {

struct RecordedStudy {
  results::StudyRecord study;  // without what is confidential
  std::vector<std::string> journals;
};

struct ReleaseRecord {
  results::SpecRecord spec;
  bool complete = false;
  std::vector<RecordedStudy> studies;
};

// Oldest first; none where the spec has no file. An error where the file was changed or cannot be
// read.
Result<std::vector<ReleaseRecord>> read_release_records(const OutFolder& out, const std::string& spec);

// Records the rows that the database has of the spec, in the place of what was recorded of the same
// release of the same spec.
Result<void> write_release_record(const results::Store& store, const OutFolder& out, const std::string& spec,
                                  bool complete);

// Puts back what the database lost: every spec that has a record and is not there, with its earlier
// releases as retired ones. An error where that is not possible for `spec`. Specs of the database
// without a record (of programs before 0.7) get one.
Result<void> restore_releases(results::Store& store, const OutFolder& out, const std::string& spec);

// Puts back those answered rows of the spec, among `studies`, that an earlier record of it has:
// after --replace the cells that the new spec shares with the old one are not drawn again.
Result<void> restore_rows(results::Store& store, const OutFolder& out, const std::string& spec,
                          const std::set<std::string>& studies);

// Whether the folder has journals of private unseeded runs for which neither the database nor any
// record speaks: made by a program before 0.7, whose database is gone.
Result<bool> has_unrecorded_runs(const results::Store& store, const OutFolder& out);

}  // namespace hyfreedp::runner
