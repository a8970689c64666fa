#include "harness/models/layers/query_value_bias.h"

#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

void QueryValueBias::bind(std::vector<BoundParameter> parameters) {
  queries_ = std::move(parameters.at(0));
  values_ = std::move(parameters.at(1));
}

Tensor QueryValueBias::forward(const Tensor& input) const {
  return input + at::cat({queries_.value, torch::zeros_like(queries_.value), values_.value});
}

Tensors QueryValueBias::each(std::span<const ActivationRecord> records) const {
  Tensors gradients(2);
  for (const auto& record : records) {
    const auto add = [&](Tensor& total, std::int64_t from) {
      auto part = record.output_gradient.narrow(2, from, width_).sum(1);
      total = total.defined() ? total + part : std::move(part);
    };
    if (queries_.trainable) add(gradients[0], 0);
    if (values_.trainable) add(gradients[1], 2 * width_);
  }
  return gradients;
}

Tensors QueryValueBias::add_squared_norms(std::span<const ActivationRecord> records,
                                          SquaredNorms& squared_norms) const {
  auto formed = each(records);
  for (const auto& one : formed) {
    if (one.defined()) squared_norms.add_(squared_sample_norms(one));
  }
  return formed;
}

void QueryValueBias::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                      const Tensor& factors, std::span<Tensor> sums) const {
  const auto gradients = formed.empty() ? each(records) : formed;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    if (gradients[p].defined()) add_weighted_sum(gradients[p], factors, sums[p]);
  }
}

}  // namespace hyfreedp::models
