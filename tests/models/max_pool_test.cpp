// MaxPool2d's own loops against LibTorch's, bit for bit: values, and gradients through every choice
// among equals and NaNs.
#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "harness/models/layers/shape.h"

namespace hyfreedp::models {
namespace max_pool_test {

using torch::Tensor;

struct Window {
  std::array<std::int64_t, 2> kernel, stride;
  std::int64_t height, width;
};

bool same(const Tensor& one, const Tensor& other) {
  return at::equal(one.isnan(), other.isnan()) && at::equal(one.nan_to_num(7), other.nan_to_num(7));
}

void check(const Window& w, const Tensor& input, MaxPool2d::Remainder remainder) {
  const bool ceil = remainder == MaxPool2d::Remainder::pooled;
  SCOPED_TRACE(fmt::format("{}x{} by {}x{}, {}x{}{}", w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
                           w.height, w.width, ceil ? ", ceil" : ""));
  const MaxPool2d pool(w.kernel, w.stride, remainder);
  ActivationRecord record{.inputs = {input}, .output = {}, .saved = {}, .output_gradient = {}};
  const auto output = pool.forward_recorded(record.inputs, &record.saved);
  const auto [expected, places] =
      at::max_pool2d_with_indices(input, w.kernel, w.stride, {0, 0}, {1, 1}, ceil);
  EXPECT_TRUE(same(output, expected));
  ASSERT_EQ(record.saved.at(0).scalar_type(), torch::kUInt8) << "LibTorch's own loops ran";
  record.output_gradient = torch::randn_like(output);
  EXPECT_TRUE(same(pool.input_gradient(record),
                   at::max_pool2d_with_indices_backward(record.output_gradient, input, w.kernel, w.stride,
                                                        {0, 0}, {1, 1}, ceil, places)));
}

void check(const Window& w, const Tensor& input) {
  check(w, input, MaxPool2d::Remainder::dropped);
  check(w, input, MaxPool2d::Remainder::pooled);
}

TEST(MaxPool, IsLibTorchsBitForBit) {
  torch::manual_seed(6);
  const std::vector<Window> windows{
      {{2, 2}, {1, 1}, 13, 13}, {{2, 2}, {2, 2}, 28, 28},  {{2, 2}, {2, 2}, 13, 9}, {{3, 3}, {2, 2}, 12, 12},
      {{3, 2}, {1, 1}, 40, 70}, {{2, 2}, {2, 1}, 6, 7},    {{2, 3}, {1, 2}, 6, 8},  {{5, 5}, {5, 5}, 5, 5},
      {{1, 1}, {1, 1}, 1, 1},   {{2, 2}, {1, 1}, 2, 300},  {{2, 2}, {3, 3}, 8, 8},  {{2, 2}, {3, 3}, 7, 6},
      {{3, 3}, {2, 2}, 3, 4},   {{3, 3}, {2, 2}, 15, 112}, {{4, 3}, {3, 2}, 9, 6}};
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const auto& w : windows) {
      const auto input = torch::randn({2, 3, w.height, w.width}, type);
      check(w, input);
      check(w, input.round());  // many equals
      check(w, input.round().masked_fill(input > 1, -INFINITY));
      check(w, torch::full_like(input, -INFINITY));
      check(w, input.masked_fill(input > 0.7, NAN));
      check(w, input.transpose(0, 1).contiguous().transpose(0, 1));
    }
  }
}

TEST(MaxPool, CanBeFollowedByAutograd) {
  const at::AutoGradMode enabled(true);
  const MaxPool2d pool({2, 2}, {1, 1});
  const auto input = torch::randn({2, 3, 5, 5}).requires_grad_();
  pool.forward_recorded({input}, nullptr).sum().backward();
  EXPECT_EQ(input.grad().sum().item<double>(), 2 * 3 * 4 * 4);
}

TEST(MaxPool, OfABatchOfNobodyIsEmpty) {
  const MaxPool2d pool({2, 2}, {1, 1});
  Tensors saved;
  const auto output = pool.forward_recorded({torch::zeros({0, 3, 5, 5})}, &saved);
  EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{0, 3, 4, 4}));
}

}  // namespace max_pool_test
}  // namespace hyfreedp::models
