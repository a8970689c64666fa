// DP-ZO (Tang, Panda, Nasr, Mahloujifar and Mittal 2024, "Private fine-tuning of large language
// models with zeroth-order optimization", arXiv:2401.04343, algorithm 1): a step along a random
// direction, as long as the private losses say. Forward passes alone, and one released number a
// step.
//
//   z            N(0, I), as the paper has it; or uniform on the sphere of radius sqrt(d), as
//                DPZero does (Zhang et al. 2024, arXiv:2310.09639). From a public stream, which
//                has nothing to do with data, sampling or noise
//   change_i     L_i(w + phi z) - L_i(w - phi z), clipped to [-C, C]; NaN counts as 0
//   slope        (sum_i change_i + sigma C N(0, 1)) / (2 phi B)
//   gradient     slope z
//   w            w - eta u, u the direction of SGD (sgd.h) for that gradient; with its defaults
//                eta slope z, the paper's rule
//
// C is the plan's clipping constant under `clipping: abadi`: adding or removing a record changes
// the sum by at most C, so a step costs what a step of DP-SGD with noise multiplier sigma costs.
// Trainer and mechanism do all but the last line (harness/training/zeroth_order.h, release
// `loss-change`); momentum, weight decay and the free step come from SGD, are off by default, and
// are not the paper's.
//
// E[slope z] is about the gradient, and |slope z| is about sqrt(d) times its length: rates are
// those of SGD over d or so. phi is where curvature (too large) meets the losses' rounding (too
// small).
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_dp_zo(const DpZoOptions& options);

}  // namespace hyfreedp::optimizers
