// y = conv1d(x, W) + bias for x [B, in, L] and W [out, in / groups, k], identical to
// torch.nn.Conv1d with zero padding. It is a two-dimensional convolution over images with one row
// and uses its rules.
#pragma once

#include "harness/models/layers/conv2d.h"

namespace hyfreedp::models {

struct Conv1dShape {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool with_bias = true;
};

class Conv1d : public Layer {
 public:
  explicit Conv1d(const Conv1dShape& shape);

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override { return convolution_.ruled_parameters(); }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  Conv1dShape shape_;
  Conv2d convolution_;
};

}  // namespace hyfreedp::models
