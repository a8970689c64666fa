// Factors that bound one sample's part in the summed gradient; privacy_plan.h has the formulas and
// the sensitivities.
//
//   auto_s     c_i = min(w / (||g_i|| + constant), w (1 - r) / ||g_i||)
//   auto_v     c_i = w (1 - r) / max(||g_i||, kSmallestNorm): a zero gradient stays zero. The floor
//              is there because squares of smaller entries underflow in float32: their norm would
//              come out too small, and the factor too large (where a norm is a product with large
//              inputs, what was lost is covered: harness/models/samples.h)
//   abadi      c_i = min(1, w C (1 - r) / ||g_i||); 1 where the norm is 0
//   adaptive   abadi at the threshold of the step
//   none       no factors (non-private rows)
// w is 1 where all layers are clipped together, and the layer's share otherwise. A sample with a
// squared norm that is NaN or infinite, in whichever layer, gets factor 0: its gradient counts as
// 0.
//
// r makes S a bound of what is computed and not only of exact numbers. It is the sum of two parts:
//   of one sample   norms are at least the true ones but for a part that norm_rounding bounds, and
//                   the rounding of a factor and of its product is within the same
//                   (harness/models/samples.h)
//   of a batch      sums of many samples round; harness/trial/sum_rounding.h derives how far
// 1e-5 for one sample in float32, 0.01 for batches of 1000; 1e-11 in float64. Under auto_s, r
// matters for gradients longer than constant / r alone: shorter ones are below the bound by more
// than that.
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
  double rounding = 0;  // r, in [0, 1)

  bool per_layer() const { return groups == trial::ClippingGroups::per_layer; }
};

// At the plan's present clipping constant, for a network whose parameters are of type `type`,
// float32 or float64. Sums are wide as the plan says (sum_type).
ClippingRule clipping_rule(const trial::PrivacyPlan& plan, torch::ScalarType type);
// The type of the plan's clipped sums over a network of parameters of type `type`: that, or float64
// for large batches.
torch::ScalarType sum_type(const trial::PrivacyPlan& plan, torch::ScalarType type);

// `squared_norms` [B] float64 -> factors [B] float64, as if all layers were clipped together.
torch::Tensor clip_factors(const ClippingRule& rule, const torch::Tensor& squared_norms);

// w, one a layer; the sum of squares is 1.
std::vector<double> threshold_shares(trial::GroupShares shares,
                                     const std::vector<models::TrainableLayer>& layers);
// `squared_norms` [L, B] float64 -> factors [L, B] float64.
torch::Tensor clip_factors_by_layer(const ClippingRule& rule, const std::vector<double>& shares,
                                    const torch::Tensor& squared_norms);

}  // namespace hyfreedp::training
