// DoG, distance over gradients (Ivgi, Hinder & Carmon, ICML 2023, arXiv:2302.12022), on privatized
// gradients.
//
// The settings are the published ones: r_eps 1e-6 (1 + ||x0||), no weight decay, evaluation at the
// polynomial-decay average (option `average`). Its distances and norms are those of released
// iterates and noised gradients, so all of it is post-processing.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dog();

}  // namespace hyfreedp::baselines
