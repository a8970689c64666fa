// Layers with one vector as their parameter: y = x * scale, with a vector [width] over the last
// dimension of x, which is [B, width] or [B, T, width]. Per-sample rule: dscale_i is the sum over
// positions of b_i x_i. If the layer is applied several times in one pass, the gradient is the sum
// over its activation records.
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class Bare : public Layer {
 public:
  // `name`: of the parameter within its layer ("scale"), or its full name if the network's place
  // has no name.
  Bare(std::string name, std::int64_t width) : name_(std::move(name)), width_(width) {}
  std::vector<ParameterSpec> parameters() const override { return {{name_, {width_}}}; }
  void bind(std::vector<BoundParameter> parameters) override { value_ = std::move(parameters.at(0)); }
  std::vector<std::string> ruled_parameters() const override { return {name_}; }
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 protected:
  // The terms that are summed over positions, [B, ..., width].
  virtual torch::Tensor gradient(const ActivationRecord& record) const = 0;

  std::string name_;
  std::int64_t width_;
  BoundParameter value_;

 private:
  torch::Tensor each(std::span<const ActivationRecord> records) const;  // [B, width]
};

class BareScale : public Bare {
 public:
  using Bare::Bare;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override { return input * value_.value; }
  torch::Tensor input_gradient(const ActivationRecord& record) const override {
    return record.output_gradient * value_.value;
  }

 protected:
  torch::Tensor gradient(const ActivationRecord& record) const override {
    return record.output_gradient * record.input();
  }
};

}  // namespace hyfreedp::models
