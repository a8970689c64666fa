// The key of a run, from which all its batches and noise follow: the one place where a worker and the audit get it.
#pragma once

#include <string>

#include "harness/random/stream.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

// Seeded: seeded_key(config), `key_file` is not looked at. Unseeded: from the system's entropy, kept in `key_file` until
// the run is complete.
Result<random::Key> run_key(const trial::TrialConfig& config, const std::string& key_file);

// The key of a seeded trial: equal seeds and trials give equal noise, which is reproducible and not private.
random::Key seeded_key(const trial::TrialConfig& config);

}  // namespace hyfreedp::training
