// The file of a release record (release_record.h): what it holds, read and written.
//
// ROOT/journals/SPEC.releases.json has mode 0600, is replaced as a whole, and is synced:
//   {"format": "hyfreedp-releases", "version": 1, "spec": SPEC,
//    "releases": [RELEASE, ...],        oldest first
//    "checksum": c}                     SHA-256 of the canonical JSON without this member
//   RELEASE: {"hash", "resolved", "text", "program",
//             "complete": b, "draws": d, "studies": [STUDY, ...],
//             "data": {dataset: [identity, ...]}, "others": [OTHER, ...]}
//   STUDY:   {"study": its record in the database, "journals": [trial, ...], "begun": b,
//             "dearest": [event, ...],
//             "runs": [{"trial", "config", "charged": [attempt, ...]}, ...]}
//   OTHER:   {"id", "method", "composition"}
//
//   hash, resolved, text, program   the spec as the database has it; the number of the release is
//                                   in `resolved`
//   complete                        true once every row has an answer, which is when the key may
//                                   be deleted
//   draws                           16 hexadecimal digits of a SHA-256 of its key of draws; empty
//                                   where there was none, and in older files
//   journals                        the trials of the row whose journals exist; of a private
//                                   selection that is open or cancelled those that may be its
//   begun, dearest                  whether runs of such a selection have begun, and the most that
//                                   any of them is charged; absent in older files
//   data                            what identified data when specs were run (record_data); absent
//                                   where there is none, and in older files
//   others                          private selections that the folder's database does not tell of,
//                                   or not all: an older one, or another copy's, took its place;
//                                   absent where there is none
//   runs                            what the row's trials executed, by attempt, and what those that
//                                   are not over are charged; of a private selection only while
//                                   `begun` holds, since at its end its row says it
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct RecordedStudy {
  results::StudyRecord study;         // without confidential values
  std::vector<std::string> journals;  // ids of trials
  // Of those that may be another private selection's as well. They do not come back as this one's:
  // where the other's record and the database are lost, nobody would miss them there.
  std::vector<std::string> shared_journals = {};
  std::vector<results::TrialRecord> runs;       // with id, config, events and charged alone
  bool has_begun = false;                       // a private selection that may go on
  std::vector<accounting::Event> dearest = {};  // of what has begun
};

// One release of a spec.
struct ReleaseRecord {
  results::SpecRecord spec;
  bool complete = false;
  std::string draws = {};
  std::vector<RecordedStudy> studies;
  std::map<std::string, std::vector<json::object>> data = {};  // Store::data()
  std::vector<results::RetiredStudy> others = {};              // of private selections
};

// The releases of `spec`, oldest first; empty if it has no file. Returns an error if the file
// cannot be read, was changed after it was written, or is another spec's.
Result<std::vector<ReleaseRecord>> read_release_records(const OutFolder& out, const std::string& spec);

// Replaces the file; synced.
Result<void> write_release_records(const OutFolder& out, const std::string& spec,
                                   const std::vector<ReleaseRecord>& records);

// The names of the specs that have such a file, sorted. An error where the folder of the journals
// cannot be read.
Result<std::vector<std::string>> specs_with_records(const OutFolder& out);

}  // namespace hyfreedp::runner
