// Prodigy: Mishchenko & Defazio, ICML 2024 (arXiv:2306.06101), as Liu & Bu, ICLR 2025, section 5 run it:
// package defaults, lr 1, decoupled weight decay .01, on privatized gradients.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline prodigy();

}  // namespace hyfreedp::baselines
