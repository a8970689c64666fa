// Every kernel that this processor can run, against one convolution_backward for each sample.
#include "harness/models/patch_products.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hyfreedp::models {
namespace {

using torch::Tensor;

struct Shape {
  Conv2dShape conv;
  std::int64_t height, width;
};

// Kernels of one to eleven taps a row, less and more outputs than one and two vectors hold, padding, groups, dilation.
std::vector<Shape> shapes() {
  return {
      {{.inputs = 1, .outputs = 1, .kernel = {1, 1}}, 1, 1},
      {{.inputs = 1, .outputs = 16, .kernel = {8, 8}, .stride = {2, 2}, .padding = {3, 3}}, 28, 28},
      {{.inputs = 16, .outputs = 32, .kernel = {4, 4}, .stride = {2, 2}}, 13, 13},
      {{.inputs = 3, .outputs = 17, .kernel = {3, 3}, .padding = {1, 1}}, 7, 9},
      {{.inputs = 5, .outputs = 33, .kernel = {2, 5}, .stride = {1, 3}, .padding = {0, 2}}, 6, 19},
      {{.inputs = 2, .outputs = 40, .kernel = {3, 7}}, 9, 40},
      {{.inputs = 2, .outputs = 3, .kernel = {1, 11}}, 2, 30},
      {{.inputs = 4,
        .outputs = 6,
        .kernel = {2, 3},
        .stride = {1, 2},
        .padding = {2, 1},
        .dilation = {2, 1},
        .groups = 2},
       5,
       7},
      {{.inputs = 6, .outputs = 54, .kernel = {3, 3}, .padding = {2, 2}, .dilation = {1, 2}, .groups = 3},
       6,
       8},
      {{.inputs = 8, .outputs = 8, .kernel = {1, 1}}, 4, 4},
  };
}

Tensor expected(const Conv2dShape& s, std::span<const Use> uses) {  // [B, groups, patch, outputs]
  Tensor total;
  for (const auto& use : uses) {
    std::vector<Tensor> each;
    const auto weight =
        torch::zeros({s.outputs, s.inputs / s.groups, s.kernel[0], s.kernel[1]}, torch::kFloat64);
    for (std::int64_t i = 0; i < use.input().size(0); ++i) {
      each.push_back(std::get<1>(at::convolution_backward(
          use.output_gradient.narrow(0, i, 1).to(torch::kFloat64),
          use.input().narrow(0, i, 1).to(torch::kFloat64), weight, at::OptionalIntArrayRef(), s.stride,
          s.padding, s.dilation, false, {0, 0}, s.groups, {false, true, false})));
    }
    const auto all =
        at::stack(each).view({-1, s.groups, s.outputs / s.groups, weight[0].numel()}).transpose(2, 3);
    total = total.defined() ? total + all : all;
  }
  return total;
}

template <class T>
void check(const PatchKernel<T>& kernel, const Shape& shape, double tolerance) {
  const auto type = torch::CppTypeToScalarType<T>::value;
  std::vector<Use> uses;
  for (int k = 0; k < 2; ++k) {
    const auto input = torch::randn({3, shape.conv.inputs, shape.height, shape.width}, type);
    const auto& c = shape.conv;
    const auto size = [&](std::size_t d, std::int64_t length) {
      return (length + 2 * c.padding[d] - c.dilation[d] * (c.kernel[d] - 1) - 1) / c.stride[d] + 1;
    };
    uses.push_back(
        {.inputs = {input},
         .output = {},
         .saved = {},
         .output_gradient = torch::randn({3, c.outputs, size(0, shape.height), size(1, shape.width)}, type),
         .instantiated = {}});
    const auto wanted = expected(c, uses);
    auto each = torch::full(wanted.sizes(), NAN, type);
    auto norms = torch::ones({3}, torch::kFloat64);
    add_patch_norms_by(kernel, c, uses, norms, &each);
    EXPECT_TRUE(each.is_contiguous());
    EXPECT_LE((each.to(torch::kFloat64) - wanted).abs().max().template item<double>(),
              tolerance * wanted.abs().max().template item<double>());
    const auto squares = wanted.square().flatten(1).sum(1);
    EXPECT_LE(((norms - 1) / squares - 1).abs().max().template item<double>(), tolerance);
    auto alone = torch::ones({3}, torch::kFloat64);
    add_patch_norms_by<T>(kernel, c, uses, alone, nullptr);
    EXPECT_TRUE(at::equal(alone, norms)) << "the norm depends on whether the gradients are written";
  }
}

TEST(PatchProducts, AreThoseOfOneSampleAtATime) {
  torch::manual_seed(5);
  for (const auto& shape : shapes()) {
    const auto floats = float_patch_kernels();
    const auto doubles = double_patch_kernels();
    ASSERT_EQ(floats.count, doubles.count);
    for (int k = 0; k < floats.count; ++k) {
      SCOPED_TRACE(fmt::format("{}: {} -> {} channels, {} x {}", floats.kernels[k]->name, shape.conv.inputs,
                               shape.conv.outputs, shape.conv.kernel[0], shape.conv.kernel[1]));
      check(*floats.kernels[k], shape, 2e-6);
      check(*doubles.kernels[k], shape, 1e-13);
    }
  }
}

}  // namespace
}  // namespace hyfreedp::models
