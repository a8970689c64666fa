// Every kernel that this processor can run, against one convolution_backward for each sample.
#include "harness/models/layers/patch_products.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>

#include "harness/models/layers/samples.h"
#include "tests/models/convolution_cases.h"

namespace hyfreedp::models {
namespace patch_products_test {

using torch::Tensor;

Tensor expected(const Conv2dShape& s,
                std::span<const ActivationRecord> records) {  // [B, groups, patch, outputs]
  Tensor total;
  for (const auto& record : records) {
    std::vector<Tensor> each;
    const auto weight =
        torch::zeros({s.outputs, s.inputs / s.groups, s.kernel[0], s.kernel[1]}, torch::kFloat64);
    for (std::int64_t i = 0; i < record.input().size(0); ++i) {
      each.push_back(std::get<1>(at::convolution_backward(
          record.output_gradient.narrow(0, i, 1).to(torch::kFloat64),
          record.input().narrow(0, i, 1).to(torch::kFloat64), weight, at::OptionalIntArrayRef(), s.stride,
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
  std::vector<ActivationRecord> records;
  for (int k = 0; k < 2; ++k) {
    const auto input = torch::randn({3, shape.conv.inputs, shape.height, shape.width}, type);
    const auto& c = shape.conv;
    const auto size = [&](std::size_t d, std::int64_t length) {
      return (length + 2 * c.padding[d] - c.dilation[d] * (c.kernel[d] - 1) - 1) / c.stride[d] + 1;
    };
    records.push_back(
        {.inputs = {input},
         .output = {},
         .saved = {},
         .output_gradient = torch::randn({3, c.outputs, size(0, shape.height), size(1, shape.width)}, type)});
    const auto wanted = expected(c, records);
    auto each = torch::full(wanted.sizes(), NAN, type);
    auto norms = torch::ones({3}, torch::kFloat64);
    add_patch_norms_by(kernel, c, records, norms, &each);
    EXPECT_TRUE(each.is_contiguous());
    EXPECT_LE((each.to(torch::kFloat64) - wanted).abs().max().template item<double>(),
              tolerance * wanted.abs().max().template item<double>());
    const auto squares = wanted.square().flatten(1).sum(1);
    EXPECT_LE(((norms - 1) / squares - 1).abs().max().template item<double>(), tolerance);
    auto alone = torch::ones({3}, torch::kFloat64);
    add_patch_norms_by<T>(kernel, c, records, alone, nullptr);
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

double reach(const Conv2dShape& shape, const Tensor& input, const Tensor& gradient) {
  Conv2d layer(shape);
  layer.bind({{torch::zeros({shape.outputs, shape.inputs / shape.groups, shape.kernel[0], shape.kernel[1]},
                            input.options()),
               true},
              {torch::zeros({shape.outputs}, input.options()), true}});
  const ActivationRecord record{.inputs = {input}, .output = {}, .saved = {}, .output_gradient = gradient};
  return layer.gradient_reaches(std::span(&record, 1)).item<double>();
}

// Where taps of one kernel stand `dilation` places apart, a place is in more patches than strides
// of its width would let it be.
TEST(ReachesOfConvolutions, BoundTheGradientOfPlacesThatManyPatchesShare) {
  for (const std::int64_t dilation : {1, 2}) {
    const Conv2dShape shape{
        .inputs = 1, .outputs = 1, .kernel = {1, 3}, .stride = {1, 2}, .dilation = {1, dilation}};
    auto input = torch::zeros({1, 1, 1, 41}, torch::kFloat64);
    input.slice(3, 0, 41, 2).fill_(1);  // the places that patches share
    const auto places = (41 - dilation * 2 - 1) / 2 + 1;
    const auto gradient = torch::ones({1, 1, 1, places}, torch::kFloat64);
    const auto formed = std::get<1>(at::convolution_backward(
        gradient, input, torch::zeros({1, 1, 1, 3}, torch::kFloat64), at::OptionalIntArrayRef(), shape.stride,
        shape.padding, shape.dilation, false, {0, 0}, 1, {false, true, false}));
    EXPECT_GE(reach(shape, input, gradient), formed.square().sum().item<double>()) << dilation;
  }
}

TEST(ReachesOfConvolutions, ThatAreNotKnownLeaveTheSampleOut) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto norms =
      beyond_forming(torch::full({3}, 4.0, torch::kFloat64),
                     torch::tensor({infinity - infinity, infinity, 1e-8}, torch::kFloat64), torch::kFloat32);
  EXPECT_FALSE(std::isfinite(norms[0].item<double>()));
  EXPECT_FALSE(std::isfinite(norms[1].item<double>()));
  EXPECT_EQ(norms[2].item<double>(), 4);
}

// Of more places than the kernels' error is stated for, it grows with their number: the same
// numbers among four times the places.
TEST(ReachesOfConvolutions, GrowWithThePlacesThatAreAddedUp) {
  const Conv2dShape shape{.inputs = 1, .outputs = 1, .kernel = {1, 1}};
  const auto among = [&](std::int64_t places) {
    auto input = torch::zeros({1, 1, 1, places}, torch::kFloat64);
    input.slice(3, 0, 10).fill_(1);
    return reach(shape, input, input);
  };
  EXPECT_EQ(among(100), among(20));
  EXPECT_DOUBLE_EQ(among(8000), 16 * among(2000));
}

}  // namespace patch_products_test
}  // namespace hyfreedp::models
