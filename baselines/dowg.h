// DoWG, distance over weighted gradients (Khaled, Mishchenko & Jin, NeurIPS 2023,
// arXiv:2305.16284), on privatized gradients, with the defaults of optimizers/dowg.h. It is
// post-processing, and nothing is tuned.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dowg();

}  // namespace hyfreedp::baselines
