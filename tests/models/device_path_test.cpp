// What layers run on a GPU in place of their loops over memory, run here on the CPU against those
// loops.
#include <cmath>
#include <gtest/gtest.h>

#include "harness/models/layers/device_conv2d.h"
#include "harness/models/layers/embedding.h"
#include "harness/models/layers/linear.h"
#include "harness/models/layers/samples.h"
#include "harness/models/layers/sequence_norms.h"
#include "harness/models/layers/standardised_conv2d.h"
#include "tests/models/compare.h"
#include "tests/models/convolution_cases.h"

namespace hyfreedp::models {
namespace device_path_test {

using torch::Tensor;

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

ActivationRecord record_of(Tensor input, Tensor gradient) {
  return {.inputs = {std::move(input)}, .output = {}, .saved = {}, .output_gradient = std::move(gradient)};
}

Tensor norms_by(const Layer& layer, std::span<const ActivationRecord> records) {
  const auto none = torch::zeros({records.front().output_gradient.size(0)}, kDouble);
  SquaredNorms norms{none, none.clone()};
  layer.add_squared_norms(records, norms);
  return norms.estimates;
}

Tensor bounded(SequenceNorms norms, const Tensor& gradients) {
  return beyond_rounding(norms.estimates, norms.reaches.square(), gradients.scalar_type());
}

// Widths beyond the columns that are added up at a time, more pairs of positions than are in memory
// at a time, an empty batch.
TEST(WholeBatchRules, NormsOfProductsAreThoseOfALinearLayer) {
  at::manual_seed(1);
  for (const auto& [samples, positions, inputs, outputs] :
       std::vector<std::array<std::int64_t, 4>>{{3, 1, 1, 5},
                                                {2, 33, 67, 131},
                                                {2, 65, 149, 151},
                                                {2, 7, 40, 2050},
                                                {2, 2100, 3, 5},
                                                {0, 5, 13, 17}}) {
    for (const auto type : {torch::kFloat64, torch::kFloat32}) {
      // There the layer forms the gradients, whose norms lack the allowance of a ghost norm.
      if (type == torch::kFloat32 && positions * (inputs + outputs) > inputs * outputs) continue;
      Linear layer(inputs, outputs, false);
      layer.bind({{torch::zeros({outputs, inputs}, type), true}});
      // Not dense: what a transposed output hands on.
      const auto input = at::randn({positions, samples, inputs}, type).transpose(0, 1);
      const auto gradient = at::randn({samples, positions, outputs}, type);
      const auto record = record_of(input, gradient);
      const auto expected = norms_by(layer, {&record, 1});
      const auto found = product_norms(input, gradient);
      EXPECT_TRUE(near_relative(bounded(found, gradient), expected, type == torch::kFloat64 ? 1e-12 : 1e-5))
          << positions << " positions, " << type;
    }
  }
}

// An estimate may lack its error wherever it stands, not only near zero: what the sum rule adds,
// with an error of its own, is within the norm that is told (samples.h has the numbers).
TEST(NormsThatAreRoundedUp, CoverTheirErrorsWhateverTheEstimate) {
  for (const double reach : {1e-20, 1.0, 1e12}) {
    for (const double share : {0.0, 1e-7, 1e-5, 9e-4, 1.1e-3, 1e-2, 0.3, 1.0}) {
      const double estimate = share * reach;
      const double summed = std::sqrt(estimate + 5e-6 * reach) + 2.4e-6 * std::sqrt(reach);
      const auto of = [](double value) { return torch::full({1}, value, torch::kFloat64); };
      EXPECT_GE(std::sqrt(beyond_rounding(estimate, reach, torch::kFloat32) +
                          rounding_slack(estimate, reach, torch::kFloat32)),
                summed)
          << share;
      SquaredNorms norms{of(0), of(0)};
      add_beyond_rounding(of(estimate), of(reach), torch::kFloat32, norms);
      EXPECT_GE(norms.bounds().sqrt().item<double>(), summed);
      const double formed_twice = std::sqrt(estimate) + 2e-5 * std::sqrt(reach);
      SquaredNorms formed{of(0), of(0)};
      add_beyond_forming(of(estimate), of(reach), torch::kFloat32, formed);
      EXPECT_GE(formed.bounds().sqrt().item<double>(), formed_twice * (1 - 1e-12)) << share;
    }
  }
}

// Where all cancels, nothing below the rounding error comes out.
TEST(WholeBatchRules, ANormThatCancelsIsNotTooSmall) {
  at::manual_seed(2);
  const auto one = at::randn({50, 1, 64}, torch::kFloat32), other = at::randn({50, 1, 64}, torch::kFloat32);
  const auto inputs = at::cat({one, one * 1.0001}, 1), gradients = at::cat({other, -other}, 1);
  const auto exact = at::bmm(inputs.transpose(1, 2).to(torch::kFloat64), gradients.to(torch::kFloat64))
                         .flatten(1)
                         .square()
                         .sum(1);
  EXPECT_TRUE((bounded(product_norms(inputs, gradients), gradients) >= exact).all().item<bool>());
}

TEST(WholeBatchRules, ANormWithATinyAndAHugeFactorIsNotTooSmall) {
  at::manual_seed(2);
  for (const double size : {1e-17, 1e-20, 1e-23, 1e17}) {
    const auto inputs = at::randn({20, 3, 64}, torch::kFloat32) / size * 1e-5;
    const auto gradients = at::randn({20, 3, 64}, torch::kFloat32) * size;
    const auto exact = at::bmm(inputs.transpose(1, 2).to(torch::kFloat64), gradients.to(torch::kFloat64))
                           .flatten(1)
                           .square()
                           .sum(1);
    EXPECT_TRUE((bounded(product_norms(inputs, gradients), gradients) >= 0.9999 * exact).all().item<bool>())
        << size;
  }
}

TEST(WholeBatchRules, NormsOfLookupsAreThoseOfAnEmbedding) {
  at::manual_seed(3);
  for (const std::optional<std::int64_t> padding :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(2)}) {
    for (const auto& [samples, positions, width] :
         std::vector<std::array<std::int64_t, 3>>{{3, 1, 1}, {2, 37, 5}, {2, 19, 257}, {0, 4, 3}}) {
      Embedding layer(7, width, padding);
      layer.bind({{torch::zeros({7, width}, kDouble), true}});
      const auto ids = at::randint(7, {positions, samples}, torch::kInt64).t();
      const auto gradient = at::randn({samples, positions, width}, kDouble);
      const auto record = record_of(ids, gradient);
      EXPECT_TRUE(near_relative(bounded(lookup_norms(ids, gradient, padding), gradient),
                                norms_by(layer, {&record, 1}), 1e-12))
          << positions << " positions, " << width << " columns, padding " << padding.value_or(-1);
    }
  }
}

TEST(WholeBatchRules, ConvolutionsRulesAreTheLayers) {
  at::manual_seed(4);
  for (auto of : convolution_cases()) {
    auto& shape = of.conv;
    shape.with_bias = false;
    Conv2d layer(shape);
    layer.bind(
        {{at::randn({shape.outputs, shape.inputs / shape.groups, shape.kernel[0], shape.kernel[1]}, kDouble),
          true}});
    const auto input = at::randn({3, shape.inputs, of.height, of.width}, kDouble);
    const auto record = record_of(input, at::randn_like(layer.forward(input)));
    const auto each = device_weight_gradients(shape, record).transpose(2, 3).reshape({3, shape.outputs, -1});
    EXPECT_TRUE(near_relative(each, layer.sample_gradients({&record, 1}), 1e-12));
    EXPECT_TRUE(
        near_relative(device_place_norms(shape, record).estimates, norms_by(layer, {&record, 1}), 1e-11));
  }
}

// With the sizes of all cases, and of an image whose samples do not fit into one piece.
TEST(WholeBatchRules, ConvolutionsSumsAreTheLayers) {
  at::manual_seed(5);
  auto cases = convolution_cases();
  auto large = cases.front();
  large.conv = {.inputs = 3, .outputs = 2, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}};
  large.height = large.width = 224;
  cases.push_back(large);
  for (auto of : cases) {
    auto& shape = of.conv;
    shape.with_bias = false;
    const std::vector<std::int64_t> sizes{shape.outputs, shape.inputs / shape.groups, shape.kernel[0],
                                          shape.kernel[1]};
    Conv2d layer(shape);
    layer.bind({{at::randn(sizes, kDouble), true}});
    const auto input = at::randn({of.height == 224 ? 11 : 3, shape.inputs, of.height, of.width}, kDouble);
    const auto record = record_of(input, at::randn_like(layer.forward(input)));
    const auto factors = at::rand({input.size(0)}, kDouble);
    Tensor expected = torch::zeros(sizes, kDouble);
    layer.add_clipped_sums({&record, 1}, {}, factors, {&expected, 1});
    auto sum =
        torch::zeros({shape.groups, shape.outputs / shape.groups, expected.numel() / shape.outputs}, kDouble);
    add_device_sum(shape, record, factors, sum);
    EXPECT_TRUE(near_relative(sum.view(sizes), expected, 1e-12));
  }
}

}  // namespace device_path_test
}  // namespace hyfreedp::models
