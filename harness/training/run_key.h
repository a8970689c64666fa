// The key of a run, from which all its batches and noise follow. Worker and audit get it here and
// nowhere else.
#pragma once

#include <string>

#include "harness/random/stream.h"
#include "harness/trial/journal.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

// What `key_file` tells of an unseeded run's attempts, for JournalWriter::open. Of a seeded run:
// nothing, and the file is not looked at. An error where the file is no key file or others may read
// it.
Result<trial::EarlierAttempts> earlier_attempts(const trial::TrialConfig& config,
                                                const std::string& key_file);

// The key of the journal's present attempt.
//   seeded     seeded_key(config); `key_file` is not looked at
//   unseeded   the one in `key_file` where it carries the journal's nonce; else a new one from the
//              system's entropy, which takes the file's place. It lies there until the run is
//              complete.
Result<random::Key> run_key(const trial::TrialConfig& config, const std::string& key_file,
                            const trial::JournalWriter& journal);

// The key of a seeded trial. Equal seeds and trials give equal noise, which is reproducible and not
// private.
random::Key seeded_key(const trial::TrialConfig& config);

}  // namespace hyfreedp::training
