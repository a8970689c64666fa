// y = conv2d(x, W) + bias, identical to torch.nn.Conv2d with zero padding: x [B, in, H, W'], W [out, in / groups, kh, kw].
//
// With X_i [groups, in kh kw / groups, L] the patches of sample i at its L output places and b_i [groups, out / groups, L]:
//   dW_i = b_i X_i^T, dbias_i = sum over places of b_i.
// Two ways, chosen from the shapes; patches are formed sample by sample in a buffer of each thread, never for the batch:
//   instantiated   dW_i is formed, [B, out, in kh kw / groups], and kept for the clipped sum
//   ghost          ||dW_i||^2 = sum_lm <X_il, X_im> <b_il, b_im> where 2 L (in kh kw + out) < out in kh kw; the sum forms
//                  c_i b_i X_i^T again, which is why the products must be much the cheaper (measured: at 0.9 of the size, 25
//                  places of 256 inputs and 32 outputs, norm and sum took 1.5 times as long as forming the gradients once)
#pragma once

#include <array>

#include "harness/models/layer.h"

namespace hyfreedp::models {

struct Conv2dShape {
  std::int64_t inputs = 1;
  std::int64_t outputs = 1;
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
  bool with_bias = true;
};

class Conv2d : public Layer {
 public:
  explicit Conv2d(const Conv2dShape& shape) : shape_(shape) {}

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return weight_.trainable; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const Use& use) const override;
  void add_squared_norms(std::span<const Use> uses, torch::Tensor& squared_norms) const override;
  void add_clipped_sums(std::span<const Use> uses, const torch::Tensor& factors,
                        std::span<torch::Tensor> sums) const override;

 private:
  torch::Tensor add_weight_norms(std::span<const Use> uses, torch::Tensor& squared_norms) const;
  bool trains_bias() const { return shape_.with_bias && bias_.trainable; }

  Conv2dShape shape_;
  BoundParameter weight_;
  BoundParameter bias_;
};

}  // namespace hyfreedp::models
