// Norms of a sequence's gradient by the kernels (harness/kernels): what the layers use on a GPU, where the products of all
// pairs of positions, [B, T, T], are then never in memory. On the CPU the kernels' reference implementations run, so that tests hold these functions
// against the layers' own path there.
//
// Inputs need not be dense; a batch or a sequence of length 0 gives zeros. Estimates and reaches are [B] float64 and belong
// together as beyond_rounding (samples.h) says.
#pragma once

#include <optional>
#include <torch/types.h>

namespace hyfreedp::models {

struct SequenceNorms {
  torch::Tensor estimates;  // squared norms, as they come out of the sums
  torch::Tensor reaches;    // sum_t ||a_t|| ||b_t||, not squared
};

// Of sum_t a_t b_t^T: inputs a [B, T, p], gradients b [B, T, q] ("ghost norm", Li et al., arXiv:2110.05679).
SequenceNorms product_norms(const torch::Tensor& inputs, const torch::Tensor& gradients);

// Of a table's gradient by lookups of ids [B, T] int64, gradients [B, T, D]; ids equal to `padding` are left out.
SequenceNorms lookup_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                           std::optional<std::int64_t> padding);

}  // namespace hyfreedp::models
