// y = x W^T + bias for x [B, in] or [B, T, in], W [out, in], bias [out]; identical to
// torch.nn.Linear.
//
// Per-sample rules, with input a_i and output gradient b_i of sample i:
//   vectors     ||dW_i||^2 = ||a_i||^2 ||b_i||^2 (Goodfellow, arXiv:1510.01799)
//   sequences   ||dW_i||^2 = sum_st <a_is, a_it> <b_is, b_it> ("ghost norm", Li et al.,
//               arXiv:2110.05679). If T (in + out) > in out, dW_i = b_i^T a_i is smaller than a and
//               b; it is then formed, and kept for the sum in their place
//   sums        sum_i c_i dW_i = (c b)^T a over samples and positions; for the bias, the sum over
//               positions of c_i b_i
// If the layer is applied several times, the cross terms between applications are included.
// `transposed`: W is stored [in, out] (GPT-2's Conv1D).
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class Linear : public Layer {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true, bool transposed = false)
      : inputs_(inputs), outputs_(outputs), with_bias_(with_bias), transposed_(transposed) {}

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override;
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return trains_weight(); }
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  bool norm_rule_reads_narrow(std::span<const ActivationRecord> records) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  bool trains_weight() const { return weight_.trainable; }
  bool trains_bias() const { return with_bias_ && bias_.trainable; }
  // [out, in]
  torch::Tensor weight() const { return transposed_ ? weight_.value.t() : weight_.value; }
  bool instantiates(std::int64_t positions) const;
  void add_vector_norms(std::span<const ActivationRecord> records, SquaredNorms& squared_norms) const;
  torch::Tensor add_sequence_norms(std::span<const ActivationRecord> records,
                                   SquaredNorms& squared_norms) const;
  void add_vector_sums(std::span<const ActivationRecord> records, const torch::Tensor& factors,
                       std::span<torch::Tensor> sums) const;
  void add_weight_sum(const ActivationRecord& record, const torch::Tensor& factors, torch::Tensor& sum) const;

  std::int64_t inputs_;
  std::int64_t outputs_;
  bool with_bias_;
  bool transposed_;
  BoundParameter weight_;
  BoundParameter bias_;
};

}  // namespace hyfreedp::models
