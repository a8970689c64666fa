// Names of the per-step scalars that a nightly comparison reads (results/regress/night.h). They are
// written if the trial's Evaluation asks for them.
//
// `released_norms` are functions of releases. A run without noise releases nothing, so it writes
// them only if the training split is public (datasets::Facts::public_train):
//   kGradientNorm           norm of the released mean gradient
//   kUpdateNorm             norm of the change of all weights in the step before; none at step 0
//   kTensorUpdate + NAME    at the last step: root mean square over steps of the norm of that
//                           tensor's change
// `noise_residual` is raw, because noise and release together give the sum. It is written only if
// the training split is public:
//   kNoiseResidual          squared norm of (released gradient * B - clipped
//                           sum) / (sigma * sensitivity), which is chi-square
//   kNoiseDimension         its degrees of freedom, if the noise is what the plan says
#pragma once

namespace hyfreedp::trial {

inline constexpr const char* kGradientNorm = "released_gradient_norm";
inline constexpr const char* kUpdateNorm = "update_norm";
inline constexpr const char* kTensorUpdate = "update_rms/";
inline constexpr const char* kNoiseResidual = "noise_residual";
inline constexpr const char* kNoiseDimension = "noise_dimension";

}  // namespace hyfreedp::trial
