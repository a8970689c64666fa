// The one way to give a config another optimizer: what its plan releases goes with it.
#pragma once

#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

// Sets the optimizer, and what the plan releases for it: gradients, or changes of losses. One that
// is not registered counts as one of gradients; check_run (run_check.h) refuses it.
void set_optimizer(trial::TrialConfig& config, trial::Named optimizer);

}  // namespace hyfreedp::mechanism
