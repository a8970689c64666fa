#include "harness/models/bare.h"

#include "harness/models/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Bare::each(std::span<const Use> uses) const {
  Tensor total;
  for (const auto& use : uses) {
    const auto values = gradient(use);
    const auto part = values.dim() == 2 ? values : values.reshape({values.size(0), -1, width_}).sum(1);
    total = total.defined() ? total + part : part;
  }
  return total;
}

void Bare::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  squared_norms.add_(squared_sample_norms(each(uses)));
}

void Bare::add_clipped_sums(std::span<const Use> uses, const Tensor& factors, std::span<Tensor> sums) const {
  sums[0].add_(weighted_sum(each(uses), factors));
}

}  // namespace hyfreedp::models
