// A method that is one private run of an optimizer which finds its own step size: privatized gradients, the
// package's recommended settings, no controller but the multiplier lr = 1. All of it is post-processing, so
// the row is end-to-end DP at the plain noise. Used by d_adaptation.cpp, prodigy.cpp, dog.cpp and dowg.cpp.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

// Fills in options (those of the optimizer, with other defaults where `defaults` names one), next and conclude.
void run_own_step_optimizer(Baseline& baseline, const std::string& optimizer_name,
                            const json::object& defaults);

// Weight decay .01, decoupled: how the HyFreeDP paper runs D-Adaptation and Prodigy.
json::object decoupled_decay();

}  // namespace hyfreedp::baselines
