// The operations that have CUDA kernels of this project's own, as functions of tensors. For a
// tensor on the CPU the kernel's reference implementation (cpu_reference.h) runs, so callers need
// no CUDA; tests/kernels and tests/gpu compare the two.
//
//   norms       squared norms of single samples' gradients: products in float32, sums in float64,
//               no atomics, so every run gives the same bits. They agree with the reference
//               implementation to 1e-5 (relative) in float32 and to 1e-12 in float64
//   release     clip factor, noise of harness/random/stream.h and division, in one pass
//   update      an optimizer's moments and direction in one pass; w - x u; digests
//               Both are equal to the reference implementation bit for bit
//
// Shapes: B samples, T positions, d parameters. All tensors are contiguous; a wrong shape or type
// is an invariant violation (it throws). Called by harness/training, harness/models and optimizers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <torch/types.h>

#include "harness/kernels/rules.h"
#include "harness/random/stream.h"

namespace hyfreedp::kernels {

// Whether this program was built with the kernels.
bool built_with_cuda();
// The name of the current GPU with all that decides its results: "NVIDIA H100 80GB HBM3, sm_90,
// CUDA 13.0". Needs a device.
std::string device_name();

// A part of a keyed stream: element i of a tensor is element first + i of the address.
struct StreamPart {
  const random::Key& key;
  random::Address address;
  std::uint64_t first = 0;
};

// The next two functions add each sample's squared norm to squared_norms, [B] float64. Values are
// float32, float64 or bfloat16.
void add_row_norms(const torch::Tensor& values, torch::Tensor& squared_norms);  // values [B, ...]
// Norm of an embedding lookup's gradient: squared_norms[i] += sum over ids of ||sum of the id's
// rows||^2 for ids [B, T] int64 and gradients [B, T, D]. Ids equal to `padding` are left out.
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                         std::optional<std::int64_t> padding, torch::Tensor& squared_norms);

// The released mean g = (clip * sum + scale * z) / divisor, z ~ N(0, I), written over the sum.
struct PrivateMean {
  StreamPart noise;
  double scale = 0;  // 0: no noise is drawn
  double divisor = 1;
  double clip = 1;
};
void release_mean(const PrivateMean& mean, torch::Tensor& sum);

// The vectors of a step, [d] each, all of one type, float32 or float64.
struct StepVectors {
  torch::Tensor gradient;  // released mean
  torch::Tensor weights;
  torch::Tensor first;    // m or SGD's buffer; undefined: no momentum
  torch::Tensor second;   // Adam's v
  torch::Tensor largest;  // undefined without AMSGrad
  torch::Tensor direction;
};
// The optimizer's moments and its direction u in one pass over the vectors.
void adam_step(const AdamNumbers& with, StepVectors& vectors);
void sgd_step(const SgdNumbers& with, StepVectors& vectors);

// out := w - x u for a step or a probe, with product and difference in double, rounded once; `out`
// may be `weights`. Returns whether every element of `out` is finite.
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);

// A 128-bit digest of a vector's bits (update_body.h); equal on every device.
std::array<std::uint64_t, 2> digest(const torch::Tensor& values);

}  // namespace hyfreedp::kernels
