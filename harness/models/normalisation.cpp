#include "harness/models/normalisation.h"

#include "harness/models/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

std::vector<ParameterSpec> Normalisation::parameters() const {
  std::vector<ParameterSpec> specs{{"weight", {width_}}};
  if (with_bias_) specs.push_back({"bias", {width_}});
  return specs;
}

void Normalisation::bind(std::vector<BoundParameter> parameters) {
  weight_ = std::move(parameters.at(0));
  if (with_bias_) bias_ = std::move(parameters.at(1));
}

std::vector<std::string> Normalisation::ruled_parameters() const {
  return with_bias_ ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
}

Tensor Normalisation::over_positions(const Tensor& values) const {
  return values.dim() == 2 ? values : values.reshape({values.size(0), -1, width_}).sum(1);
}

Tensors Normalisation::each(std::span<const Use> uses) const {
  Tensors totals(2);
  const auto add = [](Tensor& total, const Tensor& part) { total = total.defined() ? total + part : part; };
  for (const auto& use : uses) {
    if (weight_.trainable) add(totals[0], over_positions(use.output_gradient * normalised(use)));
    if (trains_bias()) add(totals[1], over_positions(use.output_gradient));
  }
  return totals;
}

void Normalisation::add_squared_norms(std::span<const Use> uses, Tensor& squared_norms) const {
  uses.front().instantiated = each(uses);
  for (const auto& one : uses.front().instantiated) {
    if (one.defined()) squared_norms.add_(squared_sample_norms(one));
  }
}

void Normalisation::add_clipped_sums(std::span<const Use> uses, const Tensor& factors,
                                     std::span<Tensor> sums) const {
  const auto& kept = uses.front().instantiated;
  const auto gradients = kept.empty() ? each(uses) : kept;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    if (gradients[p].defined()) sums[p].add_(weighted_sum(gradients[p], factors));
  }
}

// saved: mean and reciprocal standard deviation of each position.
Tensor LayerNorm::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  auto [output, mean, rstd] = at::native_layer_norm(inputs.at(0), {width_}, weight_.value, bias_.value, eps_);
  if (saved != nullptr) *saved = {std::move(mean), std::move(rstd)};
  return output;
}

Tensor LayerNorm::input_gradient(const Use& use) const {
  return std::get<0>(at::native_layer_norm_backward(use.output_gradient, use.input(), {width_},
                                                    use.saved.at(0), use.saved.at(1), weight_.value,
                                                    bias_.value, {true, false, false}));
}

Tensor LayerNorm::normalised(const Use& use) const {
  return (use.input() - use.saved.at(0)) * use.saved.at(1);
}

// saved: mean and reciprocal standard deviation, [B, groups].
Tensor GroupNorm::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  const auto input = inputs.at(0).contiguous();
  auto [output, mean, rstd] =
      at::native_group_norm(input, weight_.value, bias_.value, input.size(0), width_,
                            input.numel() / std::max<std::int64_t>(1, input.size(0) * width_), groups_, eps_);
  if (saved != nullptr) *saved = {std::move(mean), std::move(rstd)};
  return output;
}

Tensor GroupNorm::input_gradient(const Use& use) const {
  const auto input = use.input().contiguous();
  return std::get<0>(at::native_group_norm_backward(
      use.output_gradient.contiguous(), input, use.saved.at(0), use.saved.at(1), weight_.value, input.size(0),
      width_, input.numel() / std::max<std::int64_t>(1, input.size(0) * width_), groups_,
      {true, false, false}));
}

Tensor GroupNorm::normalised(const Use& use) const {
  const auto input = use.input().reshape({use.input().size(0), groups_, -1});
  return ((input - use.saved.at(0).unsqueeze(2)) * use.saved.at(1).unsqueeze(2)).view(use.input().sizes());
}

Tensor GroupNorm::over_positions(const Tensor& values) const { return values.flatten(2).sum(2); }

// saved: reciprocal root mean square of each position.
Tensor RmsNorm::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  const auto& input = inputs.at(0);
  auto scale = (input * input).mean(-1, true).add_(eps_).rsqrt_();
  auto output = input * scale * weight_.value;
  if (saved != nullptr) *saved = {std::move(scale)};
  return output;
}

// With x^ = x r and g = b weight: dx = r (g - x^ mean(g x^)).
Tensor RmsNorm::input_gradient(const Use& use) const {
  const auto gradient = use.output_gradient * weight_.value;
  const auto unit = normalised(use);
  return use.saved.at(0) * (gradient - unit * (gradient * unit).mean(-1, true));
}

Tensor RmsNorm::normalised(const Use& use) const { return use.input() * use.saved.at(0); }

}  // namespace hyfreedp::models
