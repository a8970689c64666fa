// Prodigy (Mishchenko & Defazio, ICML 2024, arXiv:2306.06101) on privatized gradients, as Liu & Bu,
// ICLR 2025, section 5 run it: the package's defaults, lr 1, decoupled weight decay .01.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline prodigy();

}  // namespace hyfreedp::baselines
