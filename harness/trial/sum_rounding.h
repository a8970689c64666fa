// A bound of how far rounding may change a step's clipped sum, and the choice of a type for the sum
// that keeps this small.
//
// An accountant assumes that exact sums have sensitivity S, but computed sums are rounded. Let D
// and D' be batches of at most n samples each that differ by one sample, and c_i the factors. If
// c_i ||g_i|| <= (1 - r) S for every sample, the exact sums of D and D' differ by at most
// (1 - r) S. The computed sum of one batch is off by at most k u sum_i c_i ||g_i|| <= k u n S.
// Therefore the computed sums of D and D' differ by at most (1 - r) S + 2 k u n S, which is S for
//
//     r = 2 k u n
//
// harness/training/clipping.h reduces the clipping factors by r, so S bounds computed sums. The
// noise is added to the computed sum in float64 and rounded after that, which is post-processing.
//
//   u   float32 2^-24, float64 2^-53
//   k   errors of one sum, in units of u times the sum of the absolute terms. Adding m numbers in
//       any order errs by at most m u, their products by u each (Higham, Accuracy and Stability of
//       Numerical Algorithms, sections 3.1 and 4.2).
//       In float32 64: layers add up at most 40 terms in float32 and such sums in float64, or all
//       of them in float64 (harness/models/layers/samples.h), and microbatches are added up in
//       float64.
//       In float64 4096 + n: at most 40 terms, 1024 such sums, and microbatches of one sample or
//       more, one after another.
//   n   a full batch: B. Poisson: a batch above B + 8 sqrt(B) + 32 has a probability below 2e-14
//       (Bernstein's inequality). Over T steps this is T times as much, and is in no delta.
//
// If r would be above kMostRounding in float32, the rules of the sum run in float64 on the float32
// records, and the sum stays float64 until the noise is in. If it would be above kMostWideRounding
// in float64, the plan is refused (PrivacyPlan::check).
//
// Not covered:
//   - Terms are counted as ||g_i||, but a sequence whose positions' gradients cancel each other has
//     longer terms. Its own contribution stays within S (beyond_rounding in
//     harness/models/layers/samples.h); a batch full of such samples may round by more than r.
//   - A sample's gradient may differ in its last bits with the samples beside it in a microbatch:
//     libraries choose the order of additions by the shapes, of padded sequences by the longest.
//   - Where the per-sample gradient of a convolution with standardised weights is formed for its
//     norm, cuBLAS or cuDNN adds it up in float32 on a GPU. That this is off by at most what
//     beyond_forming() allows was measured, not derived.
#pragma once

namespace hyfreedp::trial {

// Parts of S.
inline constexpr double kMostRounding = 0.02;
inline constexpr double kMostWideRounding = 0.1;

// n for expected batch size `batch_size` out of `population`: the batch size itself where that is
// all of the population.
double largest_batch(double batch_size, double population);
// r for n samples, summed in float32 or (wide) in float64.
double sum_rounding(double samples, bool wide);

}  // namespace hyfreedp::trial
