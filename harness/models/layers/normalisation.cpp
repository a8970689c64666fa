#include "harness/models/layers/normalisation.h"

#include <ATen/Parallel.h>
#include <algorithm>

#include "harness/models/layers/samples.h"

namespace hyfreedp::models {

using torch::Tensor;

namespace {

// The data of one sample: dweight [width] += sum over positions of b x^, dbias [width] += sum of b.
// `weight` or `bias` is null if its gradient is not wanted.
template <class T>
struct Sample {
  const T* input;     // [positions, width]
  const T* gradient;  // [positions, width]
  const T* mean;      // [positions]; null: 0
  const T* scale;     // [positions]
  T* weight;
  T* bias;
};

template <class T>
void add_positions(std::int64_t positions, std::int64_t width, const Sample<T>& at) {
  for (std::int64_t t = 0; t < positions; ++t) {
    const T* x = at.input + t * width;
    const T* b = at.gradient + t * width;
    const T mean = at.mean != nullptr ? at.mean[t] : T(0), scale = at.scale[t];
    if (at.weight != nullptr) {
      for (std::int64_t j = 0; j < width; ++j) at.weight[j] += b[j] * ((x[j] - mean) * scale);
    }
    if (at.bias != nullptr) {
      for (std::int64_t j = 0; j < width; ++j) at.bias[j] += b[j];
    }
  }
}

// [B, width] of the weight and of the bias; samples in parallel.
template <class T>
void add_samples(const Tensor& input, const Tensor& gradient, const Tensor& mean, const Tensor& scale,
                 Tensors& each) {
  const auto width = input.size(-1);
  const auto positions = input.numel() / std::max<std::int64_t>(1, input.size(0) * width);
  const auto at = [](const Tensor& tensor) {
    return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
  };
  const auto out = [](Tensor& tensor) { return tensor.defined() ? tensor.mutable_data_ptr<T>() : nullptr; };
  const T *x = at(input), *b = at(gradient), *m = at(mean), *r = at(scale);
  T *weight = out(each[0]), *bias = out(each[1]);
  at::parallel_for(0, input.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i * positions;
      add_positions<T>(
          positions, width,
          {x + row * width, b + row * width, m != nullptr ? m + row : nullptr, r + row,
           weight != nullptr ? weight + i * width : nullptr, bias != nullptr ? bias + i * width : nullptr});
    }
  });
}

}  // namespace

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

Tensors Normalisation::each_of(const ActivationRecord& record) const {
  const auto& gradient = record.output_gradient;
  Tensors found(2);
  const auto type = gradient.scalar_type();
  const auto saved = positionwise(record);
  if (saved.scale.defined() && gradient.is_cpu() && saved.scale.scalar_type() == type &&
      (type == torch::kFloat32 || type == torch::kFloat64)) {
    if (weight_.trainable) found[0] = torch::zeros({gradient.size(0), width_}, gradient.options());
    if (trains_bias()) found[1] = torch::zeros({gradient.size(0), width_}, gradient.options());
    const auto mean = saved.mean.defined() ? saved.mean.contiguous() : Tensor();
    (type == torch::kFloat32 ? add_samples<float> : add_samples<double>)(record.input().contiguous(),
                                                                         gradient.contiguous(), mean,
                                                                         saved.scale.contiguous(), found);
    return found;
  }
  if (weight_.trainable) found[0] = over_positions(gradient * normalised(record));
  if (trains_bias()) found[1] = over_positions(gradient);
  return found;
}

Tensors Normalisation::each(std::span<const ActivationRecord> records) const {
  auto totals = each_of(records.front());
  for (const auto& record : records.subspan(1)) {
    const auto more = each_of(record);
    for (std::size_t p = 0; p < totals.size(); ++p) {
      if (totals[p].defined()) totals[p] = totals[p] + more[p];
    }
  }
  return totals;
}

Tensors Normalisation::add_squared_norms(std::span<const ActivationRecord> records,
                                         SquaredNorms& squared_norms) const {
  auto formed = each(records);
  for (const auto& one : formed) {
    if (one.defined()) squared_norms.add_(squared_sample_norms(one));
  }
  return formed;
}

void Normalisation::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                     const Tensor& factors, std::span<Tensor> sums) const {
  const auto gradients = formed.empty() ? each(records) : formed;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    if (gradients[p].defined()) add_weighted_sum(gradients[p], factors, sums[p]);
  }
}

// saved: mean and reciprocal standard deviation of each position.
Tensor LayerNorm::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  auto [output, mean, rstd] = at::native_layer_norm(inputs.at(0), {width_}, weight_.value, bias_.value, eps_);
  if (saved != nullptr) *saved = {std::move(mean), std::move(rstd)};
  return output;
}

Tensor LayerNorm::input_gradient(const ActivationRecord& record) const {
  return std::get<0>(at::native_layer_norm_backward(record.output_gradient, record.input(), {width_},
                                                    record.saved.at(0), record.saved.at(1), weight_.value,
                                                    bias_.value, {true, false, false}));
}

Tensor LayerNorm::normalised(const ActivationRecord& record) const {
  return (record.input() - record.saved.at(0)) * record.saved.at(1);
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

Tensor GroupNorm::input_gradient(const ActivationRecord& record) const {
  const auto input = record.input().contiguous();
  return std::get<0>(at::native_group_norm_backward(
      record.output_gradient.contiguous(), input, record.saved.at(0), record.saved.at(1), weight_.value,
      input.size(0), width_, input.numel() / std::max<std::int64_t>(1, input.size(0) * width_), groups_,
      {true, false, false}));
}

Tensor GroupNorm::normalised(const ActivationRecord& record) const {
  const auto input = record.input().reshape({record.input().size(0), groups_, -1});
  return ((input - record.saved.at(0).unsqueeze(2)) * record.saved.at(1).unsqueeze(2))
      .view(record.input().sizes());
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

// dx = r (g - x^ mean(g x^)), where x^ = x r and g = b weight.
Tensor RmsNorm::input_gradient(const ActivationRecord& record) const {
  const auto gradient = record.output_gradient * weight_.value;
  const auto unit = normalised(record);
  return record.saved.at(0) * (gradient - unit * (gradient * unit).mean(-1, true));
}

Tensor RmsNorm::normalised(const ActivationRecord& record) const {
  return record.input() * record.saved.at(0);
}

}  // namespace hyfreedp::models
