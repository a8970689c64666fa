// w - x u: the same bits whoever asks, and nothing that is not finite passes.
#include "harness/training/weight_step.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <limits>

#include "harness/training/displaced_weights.h"

namespace hyfreedp::training {
namespace weight_step_test {

using torch::Tensor;

constexpr std::int64_t kSize = 50001;  // three pieces and a bit, no multiple of a vector's width

class WeightStep : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  Tensor weights_ = at::sin(torch::arange(kSize, torch::kFloat64)).to(GetParam());
  Tensor direction_ = at::cos(torch::arange(kSize, torch::kFloat64) * 1.7).to(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Types, WeightStep, ::testing::Values(torch::kFloat32, torch::kFloat64));

TEST_P(WeightStep, IsRoundedOnceFromDouble) {
  auto out = torch::empty_like(weights_);
  EXPECT_TRUE(subtract_scaled(weights_, direction_, 0.3, out));
  const auto exact = weights_.to(torch::kFloat64) - direction_.to(torch::kFloat64) * 0.3;
  EXPECT_TRUE(torch::equal(out, exact.to(GetParam())));
}

TEST_P(WeightStep, InPlaceAndByManyThreadsItIsTheSame) {
  auto out = torch::empty_like(weights_);
  subtract_scaled(weights_, direction_, 0.3, out);
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  auto place = weights_.clone();
  EXPECT_TRUE(subtract_scaled(place, direction_, 0.3, place));
  at::set_num_threads(before);
  EXPECT_TRUE(torch::equal(out, place));
}

TEST_P(WeightStep, AnyElementThatIsNotFiniteIsSeen) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto out = torch::empty_like(weights_);
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{16383}, std::int64_t{16384}, kSize - 1}) {
    for (const double value : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
      auto bad = direction_.clone();
      bad[at] = value;
      EXPECT_FALSE(subtract_scaled(weights_, bad, 0.3, out)) << at << ' ' << value;
    }
  }
  // Overflow of the result; the largest finite number passes.
  const double largest = GetParam() == torch::kFloat32 ? double(std::numeric_limits<float>::max())
                                                       : std::numeric_limits<double>::max();
  auto great = weights_.clone();
  great[7] = largest;
  EXPECT_TRUE(subtract_scaled(great, torch::zeros_like(great), 1, out));
  EXPECT_EQ(out[7].item<double>(), largest);
  EXPECT_FALSE(subtract_scaled(great, great, -1, out));
}

TEST_P(WeightStep, AProbeLooksWhereTheStepGoesAndIsUndoneBitForBit) {
  const auto before = weights_.clone();
  auto store = torch::full_like(weights_, 5);
  Tensor seen;
  {
    DisplacedWeights displaced(weights_, store);
    displaced.step_along(direction_, 0.3);
    seen = weights_.clone();
  }
  EXPECT_TRUE(torch::equal(weights_, before));
  subtract_scaled(weights_, direction_, 0.3, weights_);
  EXPECT_TRUE(torch::equal(weights_, seen));
}

}  // namespace weight_step_test
}  // namespace hyfreedp::training
