// Biases of the queries and of the values of a packed projection: x [B, T, 3 D] with rows q, k, v
// -> x + (q_bias, 0, v_bias). BEiT's keys have none (Bao et al., arXiv:2106.08254): one bias of all
// keys changes no attention. Per-sample rules: each gradient is the sum over positions of its part
// of the output's.
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class QueryValueBias : public Layer {
 public:
  // `prefix` of both full names ("blocks.0.attn."): the network's place has no name.
  QueryValueBias(std::string prefix, std::int64_t width) : prefix_(std::move(prefix)), width_(width) {}
  std::vector<ParameterSpec> parameters() const override {
    return {{prefix_ + "q_bias", {width_}}, {prefix_ + "v_bias", {width_}}};
  }
  void bind(std::vector<BoundParameter> parameters) override;
  std::vector<std::string> ruled_parameters() const override {
    return {prefix_ + "q_bias", prefix_ + "v_bias"};
  }
  torch::Tensor forward(const torch::Tensor& input) const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return false; }
  torch::Tensor input_gradient(const ActivationRecord& record) const override {
    return record.output_gradient;
  }
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  // [B, width] each, in the order of parameters(); undefined where frozen.
  Tensors each(std::span<const ActivationRecord> records) const;

  std::string prefix_;
  std::int64_t width_;
  BoundParameter queries_;
  BoundParameter values_;
};

}  // namespace hyfreedp::models
