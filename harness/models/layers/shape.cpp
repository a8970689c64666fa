#include "harness/models/layers/shape.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Unflatten::forward(const Tensor& input) const {
  std::vector<std::int64_t> sizes{input.size(0)};
  sizes.insert(sizes.end(), shape_.begin(), shape_.end());
  return input.reshape(sizes);
}

Tensor Unflatten::input_gradient(const ActivationRecord& record) const {
  return record.output_gradient.reshape(record.input().sizes());
}

Tensor Flatten::forward(const Tensor& input) const { return input.flatten(1); }

Tensor Flatten::input_gradient(const ActivationRecord& record) const {
  return record.output_gradient.reshape(record.input().sizes());
}

Tensor ZeroPad2d::forward(const Tensor& input) const {
  return at::constant_pad_nd(input, {sides_.left, sides_.right, sides_.top, sides_.bottom});
}

Tensor ZeroPad2d::input_gradient(const ActivationRecord& record) const {
  const auto& input = record.input();
  return record.output_gradient.narrow(2, sides_.top, input.size(2))
      .narrow(3, sides_.left, input.size(3))
      .contiguous();
}

Tensor PlacesToTokens::forward(const Tensor& input) const {
  return input.flatten(2).transpose(1, 2).contiguous();
}

Tensor PlacesToTokens::input_gradient(const ActivationRecord& record) const {
  return record.output_gradient.transpose(1, 2).reshape(record.input().sizes());
}

Tensor TokensToPlaces::forward(const Tensor& input) const {
  return input.transpose(1, 2).reshape({input.size(0), input.size(2), side_, side_}).contiguous();
}

Tensor TokensToPlaces::input_gradient(const ActivationRecord& record) const {
  return record.output_gradient.flatten(2).transpose(1, 2).contiguous();
}

Tensor MeanPlaces::forward(const Tensor& input) const { return input.mean({2, 3}); }

Tensor MeanPlaces::input_gradient(const ActivationRecord& record) const {
  const auto places = record.input().size(2) * record.input().size(3);
  return (record.output_gradient / static_cast<double>(places))
      .unsqueeze(2)
      .unsqueeze(3)
      .expand_as(record.input());
}

Tensor MeanTokens::forward(const Tensor& input) const {
  return input.narrow(1, first_, input.size(1) - first_).mean(1);
}

Tensor MeanTokens::input_gradient(const ActivationRecord& record) const {
  auto gradient = torch::zeros(record.input().sizes(), record.output_gradient.options());
  const auto tokens = record.input().size(1) - first_;
  gradient.narrow(1, first_, tokens)
      .copy_((record.output_gradient / static_cast<double>(tokens)).unsqueeze(1));
  return gradient;
}

// saved: what each token is multiplied by, [B, T, 1].
Tensor MeanUnpadded::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  const auto& tokens = inputs.at(0);
  const auto kept = (inputs.at(1) != padding_).to(tokens.scalar_type()).unsqueeze(2);
  const auto shares = kept / kept.sum(1, true).clamp_min(1);
  if (saved != nullptr) *saved = {shares};
  return at::matmul(shares.transpose(1, 2), tokens).squeeze(1);
}

Tensors MeanUnpadded::input_gradients(const ActivationRecord& record,
                                      const std::vector<bool>& /*needed*/) const {
  return {record.saved.front() * record.output_gradient.unsqueeze(1), {}};
}

Tensor Segments::forward(const Tensor& input) const {
  const auto separators = (input == separator_).to(torch::kInt64);
  return (separators.cumsum(1) - separators).clamp_max(1);
}

Tensor MeansOfTokens::forward(const Tensor& input) const {
  const auto tokens = input.narrow(1, first_, count_ * length_);
  return tokens.unflatten(1, {count_, length_}).mean(2).flatten(1);
}

Tensor MeansOfTokens::input_gradient(const ActivationRecord& record) const {
  const auto& input = record.input();
  auto gradient = at::zeros(input.sizes(), record.output_gradient.options());
  const auto each =
      record.output_gradient.view({input.size(0), count_, 1, input.size(2)}) / static_cast<double>(length_);
  gradient.narrow(1, first_, count_ * length_)
      .unflatten(1, {count_, length_})
      .copy_(each.expand({-1, -1, length_, -1}));
  return gradient;
}

Tensor FirstToken::forward(const Tensor& input) const { return input.select(1, 0); }

Tensor FirstToken::input_gradient(const ActivationRecord& record) const {
  auto gradient = torch::zeros(record.input().sizes(), record.output_gradient.options());
  gradient.select(1, 0).copy_(record.output_gradient);
  return gradient;
}

Tensor Add::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  (void)saved;
  return at::add(inputs.at(0), inputs.at(1), scale_);
}

Tensors Add::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  Tensors gradients(2);
  if (needed[0]) gradients[0] = record.output_gradient;
  if (needed[1]) gradients[1] = scale_ == 1 ? record.output_gradient : record.output_gradient * scale_;
  return gradients;
}

Tensor Concatenate::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  (void)saved;
  return at::cat(inputs, 1);
}

// Copies: the layers above may write into a gradient of their own, which a view is not.
Tensors Concatenate::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  Tensors gradients(record.inputs.size());
  std::int64_t first = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto channels = record.inputs[i].size(1);
    if (needed[i]) {
      gradients[i] = record.output_gradient.narrow(1, first, channels).clone(at::MemoryFormat::Contiguous);
    }
    first += channels;
  }
  return gradients;
}

}  // namespace hyfreedp::models
