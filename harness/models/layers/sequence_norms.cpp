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
// Number of columns that are added up in float32 before they are added in float64. One sum in
// float32 over the 50,257 columns of a vocabulary would be off by 1e-5 where all products have one
// sign.
constexpr std::int64_t kColumns = 1024;

// [B, S, T], of [B, S, n] and [B, T, n].
Tensor products_of_rows(const Tensor& left, const Tensor& right) {
  const auto width = left.size(2);
  if (width <= kColumns || left.scalar_type() == torch::kFloat64) {
    return at::bmm(left, right.transpose(1, 2)).to(torch::kFloat64);
  }
  Tensor total;
  for (std::int64_t first = 0; first < width; first += kColumns) {
    const auto some = std::min(kColumns, width - first);
    const auto part = at::bmm(left.narrow(2, first, some), right.narrow(2, first, some).transpose(1, 2));
    total = total.defined() ? total.add_(part) : part.to(torch::kFloat64);
  }
  return total;
}

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
      return products_of_rows(vectors.narrow(1, first, some), vectors.narrow(1, first, later));
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
