// What is released of a batch: the noisy mean gradient, and a hash by which a replay shows that it released the same.
//
//   gradient = (clipped sum + sigma_g * sensitivity * z) / B,  z ~ N(0, I) from (step, purpose gradient_noise, attempt)
// The divisor B is the plan's public constant whatever was drawn. Non-private rows: no noise.
#pragma once

#include <span>
#include <string>
#include <torch/types.h>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

// `sum` [d] is the clipped sum on entry and the released mean gradient on return.
void release_gradient(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                      std::int64_t attempt, torch::Tensor& sum);

// First 16 hex digits of SHA-256 over the gradient's bytes and the losses.
std::string release_hash(const torch::Tensor& gradient, std::span<const double> losses);

}  // namespace hyfreedp::training
