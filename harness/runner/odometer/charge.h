// What one trial is charged, from all that is known of it: its journal, its key file, the
// database's record.
//
//   journal    charges what its attempts booked, and whole those whose journal was lost before
//              (mechanism/journal.h)
//   key        one whose nonce the journal has not, or that has no journal: a journal was lost
//              since. Every attempt up to the key's is charged whole
//   recorded   what the database took from journal and key once, by attempt. An attempt that they
//              still name is charged the larger of both. One that they do not name is added,
//              unless they charge a lost attempt for it
//   begun      the database knows that a worker was given the trial, and not how that ended. If
//              neither a further start line in the journal nor a key tells what became of it, one
//              more attempt is charged whole
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/mechanism/journal.h"
#include "harness/random/key_file.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// There is no such journal, or one whose worker was killed before its first line was whole: it
// tells of nothing.
bool is_missing_journal(const std::string& path);

// The label of a run's key file; none where there is no file or it is of the first format, which
// names no journal.
Result<std::optional<random::KeyLabel>> key_label(const std::string& path);

// The trial's attempts, charged. `journal` and `recorded` may be null. An error where the config in
// the label or in the record is none.
Result<std::vector<trial::ChargedAttempt>> charge_of(const mechanism::Journal* journal,
                                                     const std::optional<random::KeyLabel>& key,
                                                     const results::TrialRecord* recorded);

}  // namespace hyfreedp::runner
