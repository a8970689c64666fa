// A method that is one private run of an optimizer which finds its own step size: privatized
// gradients, the package's recommended settings, the constant controller with lr = 1. All of it is
// post-processing, so the row is end-to-end DP at the noise of a plain run. Used by
// d_adaptation.cpp, prodigy.cpp, dog.cpp and dowg.cpp.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

// Sets the baseline's options (those of the optimizer, with the defaults that `defaults` replaces),
// next and conclude.
void run_own_step_optimizer(Baseline& baseline, const std::string& optimizer_name,
                            const json::object& defaults);

// Weight decay .01, decoupled: the setting of D-Adaptation and Prodigy in the HyFreeDP paper.
json::object decoupled_decay();

}  // namespace hyfreedp::baselines
