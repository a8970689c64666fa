// Clipping factors: c_i bounds the contribution of sample i to the clipped sum. The sensitivities
// are in harness/trial/clipping.h.
//
//   auto_s     c_i = min(w / (||g_i|| + constant), w (1 - r) / ||g_i||)
//   auto_v     c_i = w (1 - r) / max(||g_i||, kSmallestNorm); a zero gradient stays zero
//   abadi      c_i = min(1, w C (1 - r) / ||g_i||); 1 where the norm is 0 or C is infinite
//   adaptive   as abadi; C follows the released counts of earlier steps
//   none       no factors (non-private rows)
//
// w is 1 where all layers are clipped together, and the layer's share otherwise. A sample whose
// squared norm is NaN or infinite, be it in one layer, gets factor 0 in all.
//
// kSmallestNorm is there because squares of very small entries underflow in float32, so that the
// computed norm is too small and the factor too large.
//
// r is the part of the sensitivity that is reserved for rounding, so that the sensitivity bounds
// the computed sums and not only exact ones. It is the sum of two parts:
//   one sample   the errors of a norm, of its factor and of their product
//                (norm_rounding(), harness/models/layers/samples.h)
//   one batch    the errors of a sum of many samples (harness/trial/sum_rounding.h)
// For an expected batch of 1000 samples, r is about 0.01 with sums in float32 and about 1e-9 if
// everything is float64. It is 0 in a non-private plan. Under auto_s, r changes only the factors of
// gradients whose norm is above constant (1 - r) / r.
#pragma once

#include <torch/types.h>
#include <vector>

#include "harness/models/layers/network.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

inline constexpr double kSmallestNorm = 1e-12;

// A plan's clipping, at the present constant, with the part of its sensitivity that is reserved.
struct RoundedClipping : trial::Clipping {
  double rounding = 0;  // r, in [0, 1)
};

// The clipping of a plan at step 0, for a network whose parameters are of type
// `type`, float32 or float64. Sums are in sum_type().
RoundedClipping rounded_clipping(const trial::PrivacyPlan& plan, torch::ScalarType type);
// The type of the plan's clipped sums for a network whose parameters are of type `type`: float64
// for large batches (PrivacyPlan::has_wide_sums), otherwise `type`.
torch::ScalarType sum_type(const trial::PrivacyPlan& plan, torch::ScalarType type);

// Factors [B] float64 for `squared_norms` [B] float64 of whole gradients. Pass upper bounds
// (Network::squared_norm_bounds), not estimates. Throws std::logic_error for ClippingRule::none.
torch::Tensor clip_factors(const RoundedClipping& rule, const torch::Tensor& squared_norms);

// The share w of each layer: 1 / sqrt(L) (uniform), or the root of the layer's part of all
// trainable elements (size). The sum of their squares is 1.
std::vector<double> threshold_shares(trial::GroupShares shares,
                                     const std::vector<models::TrainableLayer>& layers);
// Factors [L, B] float64 for `squared_norms` [L, B] float64, upper bounds for each layer, with the
// layers' `shares`.
torch::Tensor clip_factors_by_layer(const RoundedClipping& rule, const std::vector<double>& shares,
                                    const torch::Tensor& squared_norms);

}  // namespace hyfreedp::training
