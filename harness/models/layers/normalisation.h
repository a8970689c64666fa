// Normalisations within one sample, identical to LibTorch's. BatchNorm is not among them, because
// it mixes samples.
//   LayerNorm   y = x^ * weight + bias over the last dimension, biased variance
//               (Ba et al., arXiv:1607.06450)
//   GroupNorm   over groups of channels and all places, [B, C, H, W] (Wu & He, arXiv:1803.08494)
//   RMSNorm     y = x / sqrt(mean(x^2) + eps) * weight over the last dimension (Zhang & Sennrich,
//               arXiv:1910.07467)
// Per-sample rules: dweight_i is the sum over positions of b_i x^_i, dbias_i that of b_i. They are
// small, so they are formed and kept; over the last dimension this takes one pass over x and b, and
// x^ is not stored.
#pragma once

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

class Normalisation : public Layer {
 public:
  Normalisation(std::int64_t width, double eps, bool with_bias)
      : width_(width), eps_(eps), with_bias_(with_bias) {}

  std::vector<ParameterSpec> parameters() const override;
  void bind(std::vector<BoundParameter> parameters) override;
  Reads gradient_reads() const override { return {.inputs = true, .output = false}; }
  std::vector<std::string> ruled_parameters() const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 protected:
  // The values that the weight multiplies, [B, ...] as the input.
  virtual torch::Tensor normalised(const ActivationRecord& record) const = 0;
  // The values saved for each position if the input is normalised over its last dimension,
  // x^ = (x - mean) scale; else undefined.
  struct Positionwise {
    torch::Tensor mean;  // undefined: 0
    torch::Tensor scale;
  };
  virtual Positionwise positionwise(const ActivationRecord& record) const {
    (void)record;
    return {};
  }
  // [B, ...] -> [B, width]: the sum over positions.
  virtual torch::Tensor over_positions(const torch::Tensor& values) const;
  bool trains_bias() const { return with_bias_ && bias_.trainable; }

  std::int64_t width_;
  double eps_;
  bool with_bias_;
  BoundParameter weight_;
  BoundParameter bias_;

 private:
  // The gradients [B, width] of the weight and of the bias, if they are trainable.
  Tensors each(std::span<const ActivationRecord> records) const;
  Tensors each_of(const ActivationRecord& record) const;
};

class LayerNorm : public Normalisation {
 public:
  LayerNorm(std::int64_t width, double eps) : Normalisation(width, eps, true) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 protected:
  torch::Tensor normalised(const ActivationRecord& record) const override;
  Positionwise positionwise(const ActivationRecord& record) const override {
    return {record.saved.at(0), record.saved.at(1)};
  }
};

class GroupNorm : public Normalisation {
 public:
  GroupNorm(std::int64_t groups, std::int64_t channels, double eps)
      : Normalisation(channels, eps, true), groups_(groups) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 protected:
  torch::Tensor normalised(const ActivationRecord& record) const override;
  torch::Tensor over_positions(const torch::Tensor& values) const override;

 private:
  std::int64_t groups_;
};

class RmsNorm : public Normalisation {
 public:
  RmsNorm(std::int64_t width, double eps) : Normalisation(width, eps, false) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 protected:
  torch::Tensor normalised(const ActivationRecord& record) const override;
  Positionwise positionwise(const ActivationRecord& record) const override {
    return {{}, record.saved.at(0)};
  }
};

}  // namespace hyfreedp::models
