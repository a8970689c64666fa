// DPAdamWOSM: Mohapatra et al., AAAI 2022 (arXiv:2111.04906), section 6: Adam without the second moment,
// whose place the known noise scale sigma C / B takes. alpha 1e-3, clipping threshold C (Abadi et al.) 1: one
// private run, nothing tuned. Without noise the denominator vanishes, so there is no non-private arm.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpadamwosm();

}  // namespace hyfreedp::baselines
