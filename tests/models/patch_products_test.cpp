// Every kernel that this processor can run, against one convolution_backward for each sample.
#include "harness/models/patch_products.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/models/convolution_cases.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

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
void check(const PatchKernel<T>& kernel, const ConvolutionCase& shape, double tolerance) {
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
  for (const auto& shape : convolution_cases()) {
    const auto floats = patch_kernels<float>();
    const auto doubles = patch_kernels<double>();
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
