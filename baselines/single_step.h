// One full-batch step from a zero initialisation (Mehta et al., 2022, arXiv:2205.02973: "a single
// step in the full batch setting" on the last layer alone); the rival of Panda et al., ICML 2024,
// section 5.2.2.
//
// The noise is that of a single Gaussian release without subsampling. From zero weights a linear
// head's first SGD step is -eta g, and the largest of its outputs does not depend on eta > 0. Its
// accuracy therefore needs no tuning, and the default is one run at one public rate. The accuracy
// of other models depends on the rate; if the option `rates` has several, one is chosen as `tuning`
// says (search.h). The panel's model keeps its initialisation if it has no option `init`; for a
// perceptron `init` is that of the last layer.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline single_step();

}  // namespace hyfreedp::baselines
