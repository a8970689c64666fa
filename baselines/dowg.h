// DoWG, distance over weighted gradients: Khaled, Mishchenko & Jin, NeurIPS 2023 (arXiv:2305.16284), on privatized
// gradients, with the settings of the optimizer (optimizers/dowg.h): post-processing, nothing tuned.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dowg();

}  // namespace hyfreedp::baselines
