// Tests that the noise is fresh each time: across steps, runs, coordinates and purposes.
//
//   independence across steps        the largest normalised inner product of any two steps of one
//                                    run (exactly N(0, 1) given one of the two), and the products
//                                    at lag 1 .. 8 summed over the run
//   independence across runs         the same over any two steps of different runs: one seed in two
//                                    workers, shifted or not
//   independence across coordinates  the autocorrelation of a vector at every lag
//                                    (two tensors with one stream), and the largest correlation of
//                                    any two coordinates over the steps
//   independence of the losses       among the losses of a probe, of successive probes, of
//                                    different runs
//   losses against gradients         each loss against each coordinate of the same step's gradient
//                                    noise
//
// If all pairs cost too much, evenly spaced coordinates stand for all: 128 give a repeated vector
// an inner product of 11 deviations.
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

void plan_independence_tests(const std::vector<StepResiduals>& residuals, Plan& plan);

}  // namespace hyfreedp::audit
