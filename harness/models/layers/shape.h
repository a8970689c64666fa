// Layers without parameters that reshape, pool, select or add values. The first dimension of every
// tensor is the sample, B.
#pragma once

#include <array>

#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

// [B, n] -> [B, shape...].
class Unflatten : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit Unflatten(std::vector<std::int64_t> shape) : shape_(std::move(shape)) {}
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  std::vector<std::int64_t> shape_;
};

// [B, ...] -> [B, n], row-major.
class Flatten : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

// [B, C, H, W] -> [B, C, H + top + bottom, W + left + right], with zeros around the image. For a
// convolution whose padding differs between two opposite sides, which its own cannot.
class ZeroPad2d : public Layer {
 public:
  struct Sides {
    std::int64_t left = 0, right = 0, top = 0, bottom = 0;
  };
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit ZeroPad2d(const Sides& sides) : sides_(sides) {}
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  Sides sides_;
};

// [B, C, H, W] -> [B, H W, C]: an image's places as a sequence of tokens.
class PlacesToTokens : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

// [B, side side, C] -> [B, C, side, side]: tokens as the places of a square image.
class TokensToPlaces : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit TokensToPlaces(std::int64_t side) : side_(side) {}
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  std::int64_t side_;
};

// torch.nn.MaxPool2d without padding, bit for bit. The remainder is dropped, or gets windows that
// reach beyond the image (ceil_mode). On the CPU, float32 and float64 are computed by loops over
// whole lines that keep one byte for each output. (LibTorch's forward pass goes number by number:
// 5.7 ms on two cores for 256 samples of 16 x 14 x 14, against 0.5 ms here.)
class MaxPool2d : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  enum class Remainder { dropped, pooled };
  MaxPool2d(std::array<std::int64_t, 2> kernel, std::array<std::int64_t, 2> stride,
            Remainder remainder = Remainder::dropped)
      : kernel_(kernel), stride_(stride), ceil_(remainder == Remainder::pooled) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  std::array<std::int64_t, 2> kernel_;
  std::array<std::int64_t, 2> stride_;
  bool ceil_;
};

// [B, C, H, W] -> [B, C]: mean over the places.
class MeanPlaces : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

// [B, T, D] -> [B, D]: mean over the tokens from index `first` on.
class MeanTokens : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit MeanTokens(std::int64_t first) : first_(first) {}
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  std::int64_t first_;
};

// x [B, T, D] and ids [B, T] -> [B, D]: mean over the tokens whose id is not `padding`; 0 where
// there is none.
class MeanUnpadded : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit MeanUnpadded(std::int64_t padding) : padding_(padding) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;

 private:
  std::int64_t padding_;
};

// ids [B, T] -> [B, T] int64: 0 up to the first `separator` of a row, that included, and 1 after
// it. BERT calls them token types.
class Segments : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit Segments(std::int64_t separator) : separator_(separator) {}
  torch::Tensor forward(const torch::Tensor& input) const override;

 private:
  std::int64_t separator_;
};

// [B, T, D] -> [B, count D]: the means of `count` runs of `length` tokens each, one after another
// from the token `first` on; tokens beyond them are not read.
class MeansOfTokens : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  MeansOfTokens(std::int64_t first, std::int64_t count, std::int64_t length)
      : first_(first), count_(count), length_(length) {}
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;

 private:
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t length_;
};

// [B, T, D] -> [B, D]: the first token.
class FirstToken : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward(const torch::Tensor& input) const override;
  torch::Tensor input_gradient(const ActivationRecord& record) const override;
};

// y = a + scale b.
class Add : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  explicit Add(double scale = 1) : scale_(scale) {}
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;

 private:
  double scale_;
};

// The inputs' channels one after another: [B, C1, ...], [B, C2, ...], .. -> [B, C1 + C2 + .., ...].
class Concatenate : public Layer {
 public:
  Reads gradient_reads() const override { return {.inputs = false, .output = false}; }
  torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const override;
  Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const override;
};

}  // namespace hyfreedp::models
