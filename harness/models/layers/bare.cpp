#include "harness/models/layers/bare.h"

#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Bare::each(std::span<const ActivationRecord> records) const {
  Tensor total;
  for (const auto& record : records) {
    const auto values = gradient(record);
    const auto part = values.dim() == 2 ? values : values.reshape({values.size(0), -1, width_}).sum(1);
    total = total.defined() ? total + part : part;
  }
  return total;
}

Tensors Bare::add_squared_norms(std::span<const ActivationRecord> records,
                                SquaredNorms& squared_norms) const {
  auto formed = each(records);
  squared_norms.add_(squared_sample_norms(formed));
  return {std::move(formed)};
}

void Bare::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                            const Tensor& factors, std::span<Tensor> sums) const {
  add_weighted_sum(formed.empty() ? each(records) : formed.front(), factors, sums[0]);
}

}  // namespace hyfreedp::models
