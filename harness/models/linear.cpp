#include "harness/models/linear.h"

#include "harness/base/result.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor squared_row_norms(const Tensor& rows) {
  return at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}).to(torch::kFloat64).square_();
}

Tensor row_products(const Tensor& left, const Tensor& right) {
  return (left * right).sum(1).to(torch::kFloat64);
}

Tensor total_output_gradient(std::span<const Use> uses) {
  Tensor total = uses.front().output_gradient;
  for (const auto& use : uses.subspan(1)) total = total + use.output_gradient;
  return total;
}

}  // namespace

std::vector<ParameterSpec> Linear::parameters() const {
  std::vector<ParameterSpec> specs{{"weight", {outputs_, inputs_}}};
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
  HYFREEDP_CHECK(input.dim() == 2 && input.size(1) == inputs_, "a linear layer takes [B, in]");
  return with_bias_ ? at::addmm(bias_.value, input, weight_.value.t()) : at::mm(input, weight_.value.t());
}

Tensor Linear::input_gradient(const Use& use) const { return at::mm(use.output_gradient, weight_.value); }

void Linear::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  if (uses.size() == 1) {
    const auto& use = uses.front();
    const auto gradient = squared_row_norms(use.output_gradient);
    if (trains_weight()) squared_norms.addcmul_(gradient, squared_row_norms(use.input));
    if (trains_bias()) squared_norms.add_(gradient);
    return;
  }
  if (trains_weight()) {
    for (std::size_t k = 0; k < uses.size(); ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        const auto inputs = row_products(uses[k].input, uses[l].input);
        const auto gradients = row_products(uses[k].output_gradient, uses[l].output_gradient);
        squared_norms.addcmul_(inputs, gradients, k == l ? 1 : 2);
      }
    }
    // Cross terms that cancel may leave a rounding error below zero, whose root would be NaN.
    squared_norms.clamp_min_(0);
  }
  if (trains_bias()) squared_norms.add_(squared_row_norms(total_output_gradient(uses)));
}

void Linear::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                              std::span<Tensor> sums) const {
  const auto scaled = [&](const Tensor& gradient) {
    return factors.defined() ? gradient * factors.unsqueeze(1) : gradient;
  };
  for (const auto& use : uses) {
    const auto gradient = scaled(use.output_gradient);  // [B, out]
    if (trains_weight()) sums[0].addmm_(gradient.t(), use.input);
    if (trains_bias()) sums[1].add_(gradient.sum(0));
  }
}

}  // namespace hyfreedp::models
