// DP-hyper: random search by private selection, charged in full. Papernot & Steinke, ICLR 2022.
//
//   1. K runs, K drawn from `runs` with mean `mean_runs` (run_count.h); each at a learning rate drawn from `grid` with
//      replacement. Count and draws come from draw().
//   2. Each run is scored by its validation accuracy with Gaussian noise of `score_noise` counts.
//   3. The best-scored run is released, and nothing else: the run count and the losing runs are confidential.
// sigma is the smallest for which the selection's epsilon, by RDP, is at most the target; gradients touch
// private_train, the score touches private_validation, and the guarantee is the larger of the two.
// The draws of a spec without noise_seed come from a public text: the count is then known to whoever knows the
// program, and the row says so.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dp_hyper();

}  // namespace hyfreedp::baselines
