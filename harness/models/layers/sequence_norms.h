// Squared norms of the gradients of sequences, of which the products of all pairs of positions,
// [B, T, T], are never in memory at once. Layers use them on a GPU, where those of products are
// LibTorch's matrix products and those of lookups a kernel (harness/kernels). They run on the CPU
// too, and tests compare them there with the layers' own rules.
//
// Inputs need not be contiguous. A batch or sequence of length 0 gives zeros. beyond_rounding()
// (samples.h) takes the estimates and the squares of the reaches, both [B] float64.
#pragma once

#include <optional>
#include <torch/types.h>

namespace hyfreedp::models {

struct SequenceNorms {
  torch::Tensor estimates;  // squared norms as computed
  torch::Tensor reaches;    // R = sum_t ||a_t|| ||b_t||, not squared
};

// The norms of the gradient sum_t a_t b_t^T, with inputs a [B, T, p] and gradients b [B, T, q]
// ("ghost norm", Li et al., arXiv:2110.05679).
SequenceNorms product_norms(const torch::Tensor& inputs, const torch::Tensor& gradients);

// The norms of a table's gradient by lookups of ids [B, T] int64, with gradients [B, T, D]. Ids
// equal to `padding` are left out.
SequenceNorms lookup_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                           std::optional<std::int64_t> padding);

}  // namespace hyfreedp::models
