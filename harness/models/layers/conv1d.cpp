#include "harness/models/layers/conv1d.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Conv2dShape over_one_row(const Conv1dShape& shape) {
  return {.inputs = shape.inputs,
          .outputs = shape.outputs,
          .kernel = {1, shape.kernel},
          .stride = {1, shape.stride},
          .padding = {0, shape.padding},
          .dilation = {1, shape.dilation},
          .groups = shape.groups,
          .with_bias = shape.with_bias};
}

ActivationRecord as_images(const ActivationRecord& record) {
  return {.inputs = {record.input().unsqueeze(2)},
          .output = {},
          .saved = {},
          .output_gradient = record.output_gradient.unsqueeze(2)};
}

std::vector<ActivationRecord> as_images(std::span<const ActivationRecord> records) {
  std::vector<ActivationRecord> images;
  for (const auto& record : records) images.push_back(as_images(record));
  return images;
}

}  // namespace

Conv1d::Conv1d(const Conv1dShape& shape) : shape_(shape), convolution_(over_one_row(shape)) {}

std::vector<ParameterSpec> Conv1d::parameters() const {
  std::vector<ParameterSpec> specs{
      {"weight", {shape_.outputs, shape_.inputs / shape_.groups, shape_.kernel}}};
  if (shape_.with_bias) specs.push_back({"bias", {shape_.outputs}});
  return specs;
}

void Conv1d::bind(std::vector<BoundParameter> parameters) {
  parameters.at(0).value = parameters.at(0).value.unsqueeze(2);
  convolution_.bind(std::move(parameters));
}

Tensor Conv1d::forward(const Tensor& input) const {
  return convolution_.forward(input.unsqueeze(2)).squeeze(2);
}

Tensor Conv1d::input_gradient(const ActivationRecord& record) const {
  return convolution_.input_gradient(as_images(record)).squeeze(2);
}

Tensors Conv1d::add_squared_norms(std::span<const ActivationRecord> records,
                                  SquaredNorms& squared_norms) const {
  return convolution_.add_squared_norms(as_images(records), squared_norms);
}

void Conv1d::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                              const Tensor& factors, std::span<Tensor> sums) const {
  std::vector<Tensor> views(sums.begin(), sums.end());
  if (views[0].defined()) views[0] = views[0].unsqueeze(2);
  convolution_.add_clipped_sums(as_images(records), formed, factors, views);
}

}  // namespace hyfreedp::models
