// DPAdamWOSM (Mohapatra et al., AAAI 2022, arXiv:2111.04906, section 6): Adam with the known noise
// scale sigma C / B in the place of the second moment. One private run with alpha 1e-3 and clipping
// threshold C = 1 (Abadi et al.); nothing is tuned. Without noise the denominator vanishes, so the
// method has no non-private column.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dpadamwosm();

}  // namespace hyfreedp::baselines
