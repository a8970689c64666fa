#include "harness/models/bare.h"

#include "harness/models/samples.h"

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

void Bare::add_squared_norms(std::span<const ActivationRecord> records, Tensor& squared_norms) const {
  squared_norms.add_(squared_sample_norms(each(records)));
}

void Bare::add_clipped_sums(std::span<const ActivationRecord> records, const Tensor& factors,
                            std::span<Tensor> sums) const {
  sums[0].add_(weighted_sum(each(records), factors));
}

}  // namespace hyfreedp::models
