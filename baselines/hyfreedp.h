// HyFreeDP as Algorithm 1 states it (Liu & Bu, ICLR 2025). Every K steps a parabola through three
// privatized losses gives eta <- G/H. Unusable fits are rejected and counted. R_l is the sum of the
// last probe's losses. Readings of what the paper leaves open are options of the controller
// `hyfreedp`; the accounting is an option of private_probe.h.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline hyfreedp();

}  // namespace hyfreedp::baselines
