// A convolution without bias whose weights are standardised before each application
// (Qiao et al., arXiv:1903.10520; in the form of Brock et al., arXiv:2101.08692, without the number
// of inputs, which De et al., arXiv:2204.13650, train privately). For each output channel, with
// v = W - mean(W) over the n values that it reads,
//   W^ = v / sqrt(|v|^2 + 1e-4).
// |v|^2 = n var(W), so a channel's output has the variance of its inputs.
//
// Rule: the gradient G of W^ is passed through the standardisation; with
// s = 1 / sqrt(|v|^2 + 1e-4), for each channel
//   dW = s (G - mean(G)) - s^3 <v, G> v.
// This is linear in G, so the clipped sum is that of the summed G. A sample's norm needs its own
// dW, which is formed for some samples at a time and not kept.
#pragma once

#include "harness/models/layers/conv2d.h"

namespace hyfreedp::models {

class StandardisedConv2d : public Layer {
 public:
  // `shape.with_bias` must be false.
  explicit StandardisedConv2d(const Conv2dShape& shape);

  std::vector<ParameterSpec> parameters() const override { return convolution_.parameters(); }
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override { return {"weight"}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  void standardise() const;

  Conv2d convolution_;  // over the standardised weights
  BoundParameter weight_;
  torch::Tensor standardised_;
};

}  // namespace hyfreedp::models
