#include "harness/models/sequence_norms.h"

#include "harness/kernels/kernels.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor zeros(const Tensor& gradients) {
  return torch::zeros({gradients.size(0)}, gradients.options().dtype(torch::kFloat64));
}

Tensor lengths(const Tensor& rows) { return at::linalg_vector_norm(rows, 2, at::IntArrayRef{2}); }  // [B, T]

}  // namespace

SequenceNorms product_norms(const Tensor& inputs, const Tensor& gradients) {
  SequenceNorms norms{zeros(gradients),
                      (lengths(inputs) * lengths(gradients)).sum(1, false, torch::kFloat64)};
  kernels::add_ghost_norms(inputs.contiguous(), gradients.contiguous(), norms.estimates);
  return norms;
}

SequenceNorms lookup_norms(const Tensor& ids, const Tensor& gradients, std::optional<std::int64_t> padding) {
  auto each = lengths(gradients);
  if (padding) each.masked_fill_(ids == *padding, 0);
  SequenceNorms norms{zeros(gradients), each.sum(1, false, torch::kFloat64)};
  kernels::add_embedding_norms(ids.contiguous(), gradients.contiguous(), padding, norms.estimates);
  return norms;
}

}  // namespace hyfreedp::models
