// Names of the per-step scalars that a nightly comparison reads (results/night.h), written where the trial's Evaluation
// asks for them.
//
//   released_norms   functions of what was released. A run without noise releases nothing, so there they are written only where
//                    the training split is public (datasets::Facts::public_train):
//     kGradientNorm     norm of the released mean gradient
//     kUpdateNorm       norm of the change of all weights that the step before made, as it was made; none at step 0
//     kTensorUpdate + NAME, at the last step alone: root mean square over steps of the norm of that tensor's change
//   noise_residual   raw: who knows the noise and the release knows the sum. Only where the training split is public:
//     kNoiseResidual    squared norm of (released gradient * B - clipped sum) / (sigma * sensitivity): chi-square with
//     kNoiseDimension   so many degrees of freedom where the noise is what the plan says
#pragma once

namespace hyfreedp::trial {

inline constexpr const char* kGradientNorm = "released_gradient_norm";
inline constexpr const char* kUpdateNorm = "update_norm";
inline constexpr const char* kTensorUpdate = "update_rms/";
inline constexpr const char* kNoiseResidual = "noise_residual";
inline constexpr const char* kNoiseDimension = "noise_dimension";

}  // namespace hyfreedp::trial
