// y = conv2d(x, W) + bias for x [B, in, H, W'] and W [out, in / groups, kh, kw], identical to
// torch.nn.Conv2d with zero padding.
//
// Let X_i [groups, in kh kw / groups, L] be the patches of sample i at its L output places, and b_i
// [groups, out / groups, L] its output gradient. Then dW_i = b_i X_i^T, and dbias_i is the sum of
// b_i over places. On the CPU one of three ways is chosen from the shapes; none of them stores the
// patches of the batch (patch_kernel.h):
//   formed       dW_i is formed and kept for the clipped sum, if it needs no more memory than input
//                and output gradient, which are then released
//   recomputed   the norm of dW_i is computed in registers; the clipped sum is a plain backward
//                pass of c_i b_i
//   ghost        ||dW_i||^2 = sum_lm <X_il, X_im> <b_il, b_im>, if 2 L (in kh kw + out) < out in kh
//                kw; the sum as in `recomputed`
// A depthwise convolution's dW_i is small and always formed (depthwise.h).
// Elsewhere dW_i is formed by ATen's unfold and products, and kept.
#pragma once

#include "harness/models/graph/layers.h"
#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class Conv2d : public Layer {
 public:
  explicit Conv2d(const Conv2dShape& shape) : shape_(shape) {}

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return weight_.trainable; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

  // dW_i over all applications, [B, out, in kh kw / groups].
  torch::Tensor sample_gradients(std::span<const ActivationRecord> records) const;
  // An upper bound of (sum over the places of ||x_l|| ||b_l||)^2, [B] float64: the argument
  // `reaches` of beyond_forming() (samples.h).
  torch::Tensor gradient_reaches(std::span<const ActivationRecord> records) const;

 private:
  torch::Tensor add_weight_norms(std::span<const ActivationRecord> records,
                                 SquaredNorms& squared_norms) const;
  torch::Tensor summed_anew(std::span<const ActivationRecord> records, const torch::Tensor& factors,
                            const torch::Tensor& weight) const;
  bool trains_bias() const { return shape_.with_bias && bias_.trainable; }

  Conv2dShape shape_;
  BoundParameter weight_;
  BoundParameter bias_;
};

}  // namespace hyfreedp::models
