// What runs on the device by this project's own CUDA kernels, as functions of tensors. A tensor on the CPU goes to the
// kernel's reference implementation, so callers need no CUDA, and the two are compared in tests/kernels and tests/gpu.
//
//   keystream   harness/random/stream.h on the device: words, uniforms, Poisson coins and normals equal bit for bit
//   norms       squared norms of single samples' gradients: float32 products, float64 sums; no atomics, so every run gives
//               the same bits; against the reference implementation 1e-5 relative in float32, 1e-12 in float64
//   update      noise, division and optimizer in one pass over the flat vector; equal to the reference implementation bit for bit
//
// Tensors are contiguous. Called by: harness/training, harness/models, optimizers.
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
// The current GPU with what else decides its results: "NVIDIA H100 80GB HBM3, sm_90, CUDA 13.0". Needs a device.
std::string device_name();

// Elements [first, first + numel) of an address.
struct StreamPart {
  const random::Key& key;
  random::Address address;
  std::uint64_t first = 0;
};

void fill_words(const StreamPart& part, torch::Tensor& out);     // int64: the bits
void fill_uniforms(const StreamPart& part, torch::Tensor& out);  // float64
void fill_normals(const StreamPart& part, torch::Tensor& out);   // float64
// destination += scale * z; float32 or float64, rounded once.
void add_normals(const StreamPart& part, double scale, torch::Tensor& destination);
// mask [population] uint8: 1 where random::poisson_sample includes the element; part.first is 0.
void poisson_mask(const StreamPart& part, double rate, torch::Tensor& mask);

// squared_norms [B] float64 += of each sample. Values float32, float64 or bfloat16.
void add_row_norms(const torch::Tensor& values, torch::Tensor& squared_norms);  // values [B, ...]
// sum_st <a_s, a_t> <b_s, b_t>, a [B, T, p], b [B, T, q], without [T, T] in memory.
void add_ghost_norms(const torch::Tensor& inputs, const torch::Tensor& gradients,
                     torch::Tensor& squared_norms);
// Of a lookup: sum over ids of ||sum of the id's rows||^2, ids [B, T] int64, gradients [B, T, D], ids equal to `padding` left out.
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                         std::optional<std::int64_t> padding, torch::Tensor& squared_norms);

// g = (clip * sum + scale * z) / divisor, written over the sum.
struct PrivateMean {
  StreamPart noise;
  double scale = 0;  // 0: no noise is drawn
  double divisor = 1;
  double clip = 1;
};
// The sum is the mean already.
PrivateMean unchanged_mean();
void release_mean(const PrivateMean& mean, torch::Tensor& sum);

// The vectors of a step, [d] each, all of one type, float32 or float64.
struct StepVectors {
  torch::Tensor gradient;  // clipped sum in, released mean out
  torch::Tensor weights;
  torch::Tensor first;      // m or SGD's buffer; undefined: no momentum
  torch::Tensor second;     // Adam's v
  torch::Tensor largest;    // undefined without AMSGrad
  torch::Tensor direction;  // undefined: not wanted
};
// Mean, moments and direction in one pass; w <- w - step u in the same pass where step is not 0.
void private_adam(const PrivateMean& mean, const AdamNumbers& with, double step, StepVectors& vectors);
void private_sgd(const PrivateMean& mean, const SgdNumbers& with, double step, StepVectors& vectors);

// out := w - x u for a step or a probe, product and difference in double, rounded once; `out` may be `w`. Whether every
// element of `out` is finite.
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);

// 128 bits that tell whether two vectors hold the same bits (update_body.h); equal on every device.
std::array<std::uint64_t, 2> digest(const torch::Tensor& values);

}  // namespace hyfreedp::kernels
