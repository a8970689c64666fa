// Tables of vectors that are looked up by token, by position, or once a sample.
//
//   Embedding      ids [B, T] int64 -> rows [B, T, D]; identical to torch.nn.Embedding: the row
//                  padding_index is used in the forward pass and gets no gradient from the lookup
//   tied           the same layer applied to a float input h [B, T, D] is the output projection h
//                  W^T -> [B, T, V]; both applications make one gradient, cross terms included
//   Positions      x [B, T, D] -> x + W[first .. first + T)
//   ClassToken     x [B, T, D] -> [token; x], [B, T + 1, D]
//
// The per-sample rules never form [B, V, D]. Lookup: ||dW_i||^2 = sum_st E_st <b_s, b_t>, where
// E_st = 1 if ids s and t are equal and 0 if not; its sum adds c_i b_it to row id_it. Projection:
// ghost norm of a linear layer. Cross term: 2 sum_st g_t[id_s] <b_s, h_t>.
#pragma once

#include <optional>

#include "harness/models/layers/layer.h"
#include "harness/models/layers/sequence_norms.h"

namespace hyfreedp::models {

class Embedding : public Layer {
 public:
  Embedding(std::int64_t rows, std::int64_t width, std::optional<std::int64_t> padding_index = {})
      : rows_(rows), width_(width), padding_index_(padding_index) {}

  std::vector<ParameterSpec> parameters() const override { return {{"weight", {rows_, width_}}}; }
  void bind(std::vector<BoundParameter> parameters) override { weight_ = std::move(parameters.at(0)); }
  std::vector<std::string> ruled_parameters() const override { return {"weight"}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  bool norm_rule_reads_narrow(std::span<const ActivationRecord> records) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  torch::Tensor lookup_gradient(const ActivationRecord& record) const;  // zero at padding
  SequenceNorms norms_by_kernel(const ActivationRecord& record) const;
  torch::Tensor reach_of(const ActivationRecord& record) const;

  std::int64_t rows_;
  std::int64_t width_;
  std::optional<std::int64_t> padding_index_;
  BoundParameter weight_;
};

class Positions : public Layer {
 public:
  // `name` is "weight" within its layer, or the whole name of a bare parameter; `shape` ends in
  // [T, D]; `first`: the row of the first token.
  Positions(std::string name, std::vector<std::int64_t> shape, std::int64_t first = 0)
      : name_(std::move(name)), shape_(std::move(shape)), first_(first) {}
  std::vector<ParameterSpec> parameters() const override { return {{name_, shape_}}; }
  void bind(std::vector<BoundParameter> parameters) override { weight_ = std::move(parameters.at(0)); }
  std::vector<std::string> ruled_parameters() const override { return {name_}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return false; }
  torch::Tensor forward_next(const Tensors& inputs, const NextTokens& tokens,
                             KeysAndValues& past) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override {
    return record.output_gradient;
  }
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  std::string name_;
  std::vector<std::int64_t> shape_;
  std::int64_t first_;
  BoundParameter weight_;
};

class ClassToken : public Layer {
 public:
  ClassToken(std::string name, std::int64_t width) : name_(std::move(name)), width_(width) {}
  std::vector<ParameterSpec> parameters() const override { return {{name_, {1, 1, width_}}}; }
  void bind(std::vector<BoundParameter> parameters) override { token_ = std::move(parameters.at(0)); }
  std::vector<std::string> ruled_parameters() const override { return {name_}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  bool rules_read_inputs() const override { return false; }
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
  Tensors add_squared_norms(std::span<const ActivationRecord> records,
                            SquaredNorms& squared_norms) const override;
  void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                        const torch::Tensor& factors, std::span<torch::Tensor> sums) const override;

 private:
  std::string name_;
  std::int64_t width_;
  BoundParameter token_;
};

}  // namespace hyfreedp::models
