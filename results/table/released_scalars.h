// Decides whether the per-step scalars in a run's journal are releases.
//
// The scalars of a private run are releases: its losses have noise, and everything else is computed
// from releases. In a run without noise (epsilon = inf), losses along the step, the fit through
// them, the loss bound and norms of gradients are raw values of the training examples. They are
// confidential unless the dataset declares its training split public
// (datasets::Facts::public_train). Step sizes are shown for every run: like the test accuracies of
// a run without noise they come from un-noised training, and a row of such runs claims no privacy.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::results {

// For a run with this config, as the store has it. If the config says neither that the run is
// private nor that the dataset is public, its scalars are confidential.
bool scalars_are_released(const json::object& trial_config);

// True if the name is eta, d or another optimizer's name for the length of its step.
bool is_step_size(const std::string& scalar);

}  // namespace hyfreedp::results
