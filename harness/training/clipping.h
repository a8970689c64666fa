// Factors that bound one sample's part in the summed gradient; privacy_plan.h has the formulas and the sensitivities.
//
//   auto_s     c_i = w / (||g_i|| + constant)
//   auto_v     c_i = w / max(||g_i||, kSmallestNorm): a zero gradient stays zero. The floor is there because squares of
//              smaller entries underflow in float32: their norm would come out too small, and the factor too large
//              (where a norm is a product with large inputs, what was lost is covered: harness/models/samples.h)
//   abadi      c_i = min(1, w C / ||g_i||); 1 where the norm is 0
//   adaptive   abadi at the threshold of the step
//   none       no factors (non-private rows)
// w is 1 where all layers are clipped together, and the layer's share otherwise.
// A sample with a squared norm that is NaN or infinite, in whichever layer, gets factor 0: its gradient counts as 0.
// Norms and factors are rounded, so a clipped gradient may exceed S by rounding: 1e-12 relative in float64, 1e-6 in float32
// (at most half a per cent where an estimate stands just above the error below which it is rounded up).
// Where inner products cancel, the norm is rounded up (harness/models/samples.h: beyond_rounding). The sum over a batch has a
// rounding error of its own, which S does not cover: 1e-7 of the sum's largest entries in float32. Measured in units of S, over 7170
// parameters: 2e-4 for a batch of 1000 samples that agree, 2e-3 for one of 50,000 in microbatches of 1000 (0.08 before microbatches
// were added up in double). Noise is some 0.5 to 1000 in the same units.
#pragma once

#include <torch/types.h>
#include <vector>

#include "harness/models/network.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr double kSmallestNorm = 1e-12;

struct ClippingRule {
  trial::Clipping clipping = trial::Clipping::auto_s;
  double constant = 0.01;
  trial::ClippingGroups groups = trial::ClippingGroups::all;
  trial::GroupShares shares = trial::GroupShares::uniform;

  bool per_layer() const { return groups == trial::ClippingGroups::per_layer; }
};

// At the plan's present clipping constant.
ClippingRule clipping_rule(const trial::PrivacyPlan& plan);

// `squared_norms` [B] float64 -> factors [B] float64.
torch::Tensor clip_factors(trial::Clipping clipping, double constant, const torch::Tensor& squared_norms);

// w, one a layer; the sum of squares is 1.
std::vector<double> threshold_shares(trial::GroupShares shares,
                                     const std::vector<models::TrainableLayer>& layers);
// `squared_norms` [L, B] float64 -> factors [L, B] float64.
torch::Tensor clip_factors_by_layer(const ClippingRule& rule, const std::vector<double>& shares,
                                    const torch::Tensor& squared_norms);

}  // namespace hyfreedp::training
