// D-Adaptation with Adam (Defazio & Mishchenko, ICML 2023, arXiv:2301.07733) on privatized
// gradients, as Liu & Bu, ICLR 2025, section 5 run it: the package's defaults, lr 1, decoupled
// weight decay .01.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline d_adaptation();

}  // namespace hyfreedp::baselines
