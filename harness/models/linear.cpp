#include "harness/models/linear.h"

#include "harness/base/result.h"
#include "harness/models/samples.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor row_products(const Tensor& left, const Tensor& right) {
  return (left * right).sum(1).to(torch::kFloat64);
}

// [B, T, n] -> [B, n]; [B, n] stays.
Tensor over_positions(const Tensor& values) { return values.dim() == 3 ? values.sum(1) : values; }

Tensor total_output_gradient(std::span<const Use> uses) {
  Tensor total = over_positions(uses.front().output_gradient);
  for (const auto& use : uses.subspan(1)) total = total + over_positions(use.output_gradient);
  return total;
}

// All applications of one layer as one longer sequence: their gradients add up just as those of positions do.
Tensor joined(std::span<const Use> uses, Tensor (*of)(const Use&)) {
  Tensors parts;
  for (const auto& use : uses) {
    const auto part = of(use);
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

Tensor Linear::input_gradient(const Use& use) const {
  const auto& gradient = use.output_gradient;
  if (gradient.dim() == 2) return at::mm(gradient, weight());
  return at::mm(gradient.reshape({-1, outputs_}), weight()).view(use.input().sizes());
}

void Linear::add_weight_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  const bool vectors = uses.front().input().dim() == 2;
  if (vectors && uses.size() == 1) {
    const auto& use = uses.front();
    squared_norms.addcmul_(squared_sample_norms(use.output_gradient), squared_sample_norms(use.input()));
    return;
  }
  // Of many uses (copies of a sample) the pairs are more work than one longer sequence.
  if (vectors && uses.size() == 2) {
    for (std::size_t k = 0; k < uses.size(); ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        const auto inputs = row_products(uses[k].input(), uses[l].input());
        const auto gradients = row_products(uses[k].output_gradient, uses[l].output_gradient);
        squared_norms.addcmul_(inputs, gradients, k == l ? 1 : 2);
      }
    }
  } else {
    const auto input = joined(uses, [](const Use& use) { return use.input(); });             // [B, T, in]
    const auto gradient = joined(uses, [](const Use& use) { return use.output_gradient; });  // [B, T, out]
    if (input.size(1) * (inputs_ + outputs_) > inputs_ * outputs_) {
      auto each = at::bmm(gradient.transpose(1, 2), input);  // [B, out, in]
      squared_norms.add_(squared_sample_norms(each));
      uses.front().instantiated = {std::move(each)};
      return;
    }
    const auto inputs = at::bmm(input, input.transpose(1, 2));
    const auto gradients = at::bmm(gradient, gradient.transpose(1, 2));  // [B, T, T]
    squared_norms.add_((inputs * gradients).sum({1, 2}, false, torch::kFloat64));
  }
  // Cross terms that cancel may leave a rounding error below zero, whose root would be NaN.
  squared_norms.clamp_min_(0);
}

void Linear::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  for (const auto& use : uses) use.instantiated.clear();
  if (trains_weight()) add_weight_norms(uses, squared_norms);
  if (trains_bias()) squared_norms.add_(squared_sample_norms(total_output_gradient(uses)));
}

void Linear::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                              std::span<Tensor> sums) const {
  const bool instantiated = !uses.front().instantiated.empty();
  Tensor weight_sum;  // [out, in]
  if (trains_weight()) weight_sum = transposed_ ? sums[0].t() : sums[0];
  if (instantiated) weight_sum.add_(weighted_sum(uses.front().instantiated[0], factors));
  for (const auto& use : uses) {
    if (instantiated && !trains_bias()) break;
    const auto gradient = scaled_samples(use.output_gradient, factors).reshape({-1, outputs_});
    if (trains_weight() && !instantiated) {
      weight_sum.addmm_(gradient.t(), use.input().reshape({-1, inputs_}));
    }
    if (trains_bias()) sums[1].add_(gradient.sum(0));
  }
}

}  // namespace hyfreedp::models
