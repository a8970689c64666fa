// y = x W^T + bias for x [B, in], W [out, in], bias [out]; identical to torch.nn.Linear.
//
// Per-sample rules (Goodfellow, arXiv:1510.01799), with input a_i and output gradient b_i of sample i:
//   ||dW_i||^2 = ||a_i||^2 ||b_i||^2, ||dbias_i||^2 = ||b_i||^2
//   sum_i c_i dW_i = (c b)^T a,       sum_i c_i dbias_i = sum_i c_i b_i
// Applied K times: ||dW_i||^2 = sum_kl <a_ik, a_il> <b_ik, b_il>, ||dbias_i||^2 = ||sum_k b_ik||^2.
#pragma once

#include "harness/models/layer.h"

namespace hyfreedp::models {

class Linear : public Layer {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true)
      : inputs_(inputs), outputs_(outputs), with_bias_(with_bias) {}

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override;
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const Use& use) const override;
  void add_squared_norms(std::span<const Use> uses, torch::Tensor& squared_norms) const override;
  void add_clipped_sums(std::span<const Use> uses, const torch::Tensor& factors,
                        std::span<torch::Tensor> sums) const override;

 private:
  bool trains_weight() const { return weight_.trainable; }
  bool trains_bias() const { return with_bias_ && bias_.trainable; }

  std::int64_t inputs_;
  std::int64_t outputs_;
  bool with_bias_;
  BoundParameter weight_;
  BoundParameter bias_;
};

}  // namespace hyfreedp::models
