// One full-batch step from a zero initialisation: Mehta et al., 2022 (arXiv:2205.02973), "a single step in the full batch
// setting" on the last layer alone; the rival of Panda et al., ICML 2024, section 5.2.2.
//
// The noise is a single Gaussian's, without subsampling. From zero weights a linear head's first SGD step is -eta g, and the
// largest of its outputs does not depend on eta > 0: its accuracy needs no tuning, so the default is one public rate, one
// run. Other models do depend on it; more `rates` are chosen among as `tuning` says (search.h).
// The panel's model keeps its initialisation where it has no option `init`; a perceptron's `init` is its last layer's.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline single_step();

}  // namespace hyfreedp::baselines
