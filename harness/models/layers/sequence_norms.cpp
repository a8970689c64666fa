#include "harness/models/layers/sequence_norms.h"

#include "harness/kernels/kernels.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor zeros(const Tensor& gradients) {
  return torch::zeros({gradients.size(0)}, gradients.options().dtype(torch::kFloat64));
}

}  // namespace

SequenceNorms product_norms(const Tensor& inputs, const Tensor& gradients) {
  SequenceNorms norms{zeros(gradients), (reach_lengths(inputs) * reach_lengths(gradients)).sum(1)};
  kernels::add_ghost_norms(inputs.contiguous(), gradients.contiguous(), norms.estimates);
  return norms;
}

SequenceNorms lookup_norms(const Tensor& ids, const Tensor& gradients, std::optional<std::int64_t> padding) {
  auto each = reach_lengths(gradients);
  if (padding) each.masked_fill_(ids == *padding, 0);
  SequenceNorms norms{zeros(gradients), each.sum(1)};
  kernels::add_embedding_norms(ids.contiguous(), gradients.contiguous(), padding, norms.estimates);
  return norms;
}

}  // namespace hyfreedp::models
