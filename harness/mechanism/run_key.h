// The key of a run, from which all its batches and noise are drawn. Worker and audit both obtain it
// from these functions.
#pragma once

#include <string>

#include "harness/mechanism/journal.h"
#include "harness/random/stream.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

// The key file's record of a run's earlier attempts, for JournalWriter::open. Returns an error if
// the file is not a key file or if other users may read it.
Result<EarlierAttempts> earlier_attempts(const trial::TrialConfig& config, const std::string& key_file);

// The key of the journal's present attempt. The key file then has a label of that attempt, so that
// it is charged where the journal is lost. It stays there until the run is complete.
//   seeded     seeded_key(config); of the file the label alone is used, and no file is written
//              where `key_file` is empty
//   unseeded   the key in `key_file`, if it has the journal's nonce; otherwise a new one from the
//              system's entropy, which replaces the file
Result<random::Key> run_key(const trial::TrialConfig& config, const std::string& key_file,
                            const JournalWriter& journal);

// The key of a seeded trial. Equal seeds and trials give equal noise, which is reproducible and not
// private. The trials of further releases of a row (harness/runner/odometer/release.h) count as
// equal, and so do a trial on a GPU and the same one on the processor.
random::Key seeded_key(const trial::TrialConfig& config);

}  // namespace hyfreedp::mechanism
