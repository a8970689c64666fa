#include "harness/models/layers/sequence_norms.h"

#include <algorithm>

#include "harness/kernels/kernels.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor zeros(const Tensor& gradients) {
  return torch::zeros({gradients.size(0)}, gradients.options().dtype(torch::kFloat64));
}

// Inner products that are in memory at a time, of inputs and as many of gradients.
constexpr std::int64_t kProducts = 1 << 22;

}  // namespace

SequenceNorms product_norms(const Tensor& inputs, const Tensor& gradients) {
  SequenceNorms norms{zeros(gradients), (reach_lengths(inputs) * reach_lengths(gradients)).sum(1)};
  const auto samples = inputs.size(0), positions = inputs.size(1);
  const auto rows = std::max<std::int64_t>(1, kProducts / std::max<std::int64_t>(1, samples * positions));
  for (std::int64_t first = 0; first < positions && samples > 0; first += rows) {
    // Pairs (s, t) of the rows with all later positions: those that are no pairs of the rows count
    // for (t, s) as well.
    const auto some = std::min(rows, positions - first), later = positions - first;
    const auto products = [&](const Tensor& vectors) {
      return inner_products(vectors.narrow(1, first, some), vectors.narrow(1, first, later));
    };
    const auto terms = products(inputs).mul_(products(gradients));  // [B, some, later]
    const auto add = [&](const Tensor& part, double factor) {
      norms.estimates.add_(part.sum({1, 2}, false, torch::kFloat64), factor);
    };
    add(terms.narrow(2, 0, some), 1);
    if (later > some) add(terms.narrow(2, some, later - some), 2);
  }
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
