#include "harness/models/layers/linear.h"

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"
#include "harness/models/layers/sequence_norms.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor row_products(const Tensor& left, const Tensor& right) {
  return (left * right).sum(1).to(torch::kFloat64);
}

// [B, T, n] -> [B, n], in float32 at least; [B, n] stays.
Tensor over_positions(const Tensor& values) {
  if (values.dim() != 3) return values;
  return values.sum(1, false, at::promote_types(values.scalar_type(), torch::kFloat32));
}

Tensor total_output_gradient(std::span<const ActivationRecord> records) {
  Tensor total = over_positions(records.front().output_gradient);
  for (const auto& record : records.subspan(1)) total = total + over_positions(record.output_gradient);
  return total;
}

// All applications of one layer as one longer sequence: their gradients add up just as those of
// positions do.
Tensor joined(std::span<const ActivationRecord> records, Tensor (*of)(const ActivationRecord&)) {
  Tensors parts;
  for (const auto& record : records) {
    const auto part = of(record);
    parts.push_back(part.dim() == 2 ? part.unsqueeze(1) : part);
  }
  return parts.size() == 1 ? parts.front() : at::cat(parts, 1);
}

}  // namespace

std::vector<ParameterSpec> Linear::parameters() const {
  using Shape = std::vector<std::int64_t>;
  std::vector<ParameterSpec> specs{
      {"weight", transposed_ ? Shape{inputs_, outputs_} : Shape{outputs_, inputs_}}};
  if (with_bias_) specs.push_back({"bias", {outputs_}});
  return specs;
}

void Linear::bind(std::vector<BoundParameter> parameters) {
  weight_ = std::move(parameters.at(0));
  if (with_bias_) bias_ = std::move(parameters.at(1));
}

std::vector<std::string> Linear::ruled_parameters() const {
  return with_bias_ ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
}

Tensor Linear::forward(const Tensor& input) const {
  HYFREEDP_CHECK((input.dim() == 2 || input.dim() == 3) && input.size(-1) == inputs_,
                 "a linear layer takes [B, in] or [B, T, in]");
  if (input.dim() == 2) {
    return with_bias_ ? at::addmm(bias_.value, input, weight().t()) : at::mm(input, weight().t());
  }
  const auto rows = input.reshape({-1, inputs_});
  const auto output = with_bias_ ? at::addmm(bias_.value, rows, weight().t()) : at::mm(rows, weight().t());
  return output.view({input.size(0), input.size(1), outputs_});
}

Tensor Linear::input_gradient(const ActivationRecord& record) const {
  const auto& gradient = record.output_gradient;
  if (gradient.dim() == 2) return at::mm(gradient, weight());
  return at::mm(gradient.reshape({-1, outputs_}), weight()).view(record.input().sizes());
}

void Linear::add_vector_norms(std::span<const ActivationRecord> records, SquaredNorms& squared_norms) const {
  auto estimates = torch::zeros_like(squared_norms.estimates);
  auto reach = torch::zeros_like(estimates);
  const auto type = records.front().output_gradient.scalar_type();
  for (std::size_t k = 0; k < records.size(); ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const auto inputs = row_products(records[k].input(), records[l].input());
      const auto gradients = row_products(records[k].output_gradient, records[l].output_gradient);
      estimates.addcmul_(inputs, gradients, k == l ? 1 : 2);
      if (k != l) continue;
      reach.addcmul_(inputs.sqrt().add_(lost_length(inputs_, type)),
                     gradients.sqrt().add_(lost_length(outputs_, type)));
    }
  }
  add_beyond_rounding(estimates, reach.square_(), type, squared_norms);
}

// The per-sample gradients as the weight is stored, or undefined by the ghost norm.
Tensor Linear::add_sequence_norms(std::span<const ActivationRecord> records,
                                  SquaredNorms& squared_norms) const {
  const auto input =
      joined(records, [](const ActivationRecord& record) { return record.input(); });  // [B, T, in]
  // [B, T, out].
  const auto gradient =
      joined(records, [](const ActivationRecord& record) { return record.output_gradient; });
  if (instantiates(input.size(1))) {
    auto each =
        transposed_ ? at::bmm(input.transpose(1, 2), gradient) : at::bmm(gradient.transpose(1, 2), input);
    squared_norms.add_(squared_sample_norms(each));
    return each;
  }
  if (input.is_cuda()) {
    auto norms = product_norms(input, gradient);
    add_beyond_rounding(norms.estimates, norms.reaches.square_(), gradient.scalar_type(), squared_norms);
    return {};
  }
  const auto inputs = gram_matrices(input);
  const auto gradients = gram_matrices(gradient);                        // [B, T, T]
  const auto lengths = [](const Tensor& products, std::int64_t width) {  // [B, T]
    const auto squares = products.diagonal(0, 1, 2).to(torch::kFloat64);
    return squares.sqrt().add_(lost_length(width, products.scalar_type()));
  };
  const auto reach = (lengths(inputs, inputs_) * lengths(gradients, outputs_)).sum(1);
  add_beyond_rounding((inputs * gradients).sum({1, 2}, false, torch::kFloat64), reach.square(),
                      gradients.scalar_type(), squared_norms);
  return {};
}

bool Linear::instantiates(std::int64_t positions) const {
  const auto kept = inputs_ + outputs_;
  return positions * kept > inputs_ * outputs_;
}

bool Linear::norm_rule_reads_narrow(std::span<const ActivationRecord> records) const {
  const auto& input = records.front().input();
  return trains_weight() && input.dim() == 3 && can_multiply_narrow(input) &&
         !instantiates(input.size(1) * static_cast<std::int64_t>(records.size()));
}

Tensors Linear::add_squared_norms(std::span<const ActivationRecord> records,
                                  SquaredNorms& squared_norms) const {
  Tensors formed(with_bias_ ? 2 : 1);
  const bool one_vector = records.size() == 1 && records.front().input().dim() == 2;
  if (trains_weight() && one_vector) {
    add_outer_norms(records.front().output_gradient, records.front().input(), trains_bias(),
                    squared_norms.estimates);
  } else if (trains_weight()) {
    // For many records (copies of a sample), the pairs are more work than one longer sequence.
    if (records.front().input().dim() == 2 && records.size() <= 2) {
      add_vector_norms(records, squared_norms);
    } else {
      formed[0] = add_sequence_norms(records, squared_norms);
    }
  }
  if (trains_bias()) {
    formed[1] = total_output_gradient(records);
    if (!trains_weight() || !one_vector) squared_norms.add_(squared_sample_norms(formed[1]));
  }
  return formed;
}

void Linear::add_weight_sum(const ActivationRecord& record, const Tensor& factors, Tensor& sum) const {
  // The factors go into the smaller operand.
  const bool scale_input = inputs_ < outputs_;
  const auto input = scaled_samples(record.input(), scale_input ? factors : Tensor()).reshape({-1, inputs_});
  const auto gradient =
      scaled_samples(record.output_gradient, scale_input ? Tensor() : factors).reshape({-1, outputs_});
  if (transposed_) {
    add_product(input, gradient, sum);
  } else {
    add_product(gradient, input, sum);
  }
}

void Linear::add_vector_sums(std::span<const ActivationRecord> records, const Tensor& factors,
                             std::span<Tensor> sums) const {
  for (const auto& record : records) {
    const auto gradient = scaled_samples(record.output_gradient, factors);
    add_product(gradient, record.input(), transposed_ ? sums[0].t() : sums[0]);
    if (trains_bias()) add_weighted_sum(gradient, {}, sums[1]);
  }
}

void Linear::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                              const Tensor& factors, std::span<Tensor> sums) const {
  const bool is_formed = !formed.empty() && formed[0].defined();
  if (trains_weight() && !is_formed && records.front().input().dim() == 2) {
    add_vector_sums(records, factors, sums);
    return;
  }
  if (trains_bias()) {
    add_weighted_sum(formed.size() > 1 ? formed[1] : total_output_gradient(records), factors, sums[1]);
  }
  if (!trains_weight()) return;
  if (is_formed) {
    add_weighted_sum(formed[0], factors, sums[0]);
    return;
  }
  for (const auto& record : records) add_weight_sum(record, factors, sums[0]);
}

}  // namespace hyfreedp::models
