// Whether the per-step scalars that a run journals are releases.
//
// Of a private run they are: its losses were noised, and all else is computed from releases. Without noise (epsilon = inf)
// losses along the step, the fit through them, the loss bound and norms of gradients are raw values of the training examples:
// confidential unless the dataset declares its training split public (datasets::Facts::public_train). Step sizes alone are
// shown of every run: like the test accuracies of a run without noise they come of its un-noised training, and a row of such
// runs claims no privacy.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::results {

// Of a run with this config, as the store has it. One that says neither that it is private nor a known public dataset has
// confidential scalars.
bool scalars_are_released(const json::object& trial_config);

// eta, d and what other optimizers call the length of their step.
bool is_step_size(const std::string& scalar);

}  // namespace hyfreedp::results
