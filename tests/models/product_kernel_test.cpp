// Every kernel of products that this processor can run, bit for bit against the sums in their order
// (harness/models/products/product_kernel.h).
#include "harness/models/products/product_kernel.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/models/layers/samples.h"
#include "harness/models/products/inner_products.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace product_kernel_test {

using torch::Tensor;

// 40 rows in T, 1024 such sums in float64, each of these added to the sum.
template <class T, class S>
void add_in_order(const Tensor& left, const Tensor& right, Tensor sum) {
  const auto rows = left.size(0), height = left.size(1), width = right.size(1);
  const T* const a = left.const_data_ptr<T>();
  const T* const b = right.const_data_ptr<T>();
  S* to = sum.mutable_data_ptr<S>();
  for (std::int64_t i = 0; i < height; ++i) {
    for (std::int64_t j = 0; j < width; ++j, ++to) {
      for (std::int64_t first = 0; first < rows; first += 40'960) {
        const auto end = std::min(rows, first + 40'960);
        double total = 0;
        for (auto begin = first; begin < end; begin += 40) {
          T few = 0;
          for (auto k = begin; k < std::min(end, begin + 40); ++k) {
            const T product = a[k * height + i] * b[k * width + j];
            few += product;
          }
          total += static_cast<double>(few);
        }
        *to = static_cast<S>(static_cast<double>(*to) + total);
      }
    }
  }
}

// Numbers of many magnitudes: sums in any other order would be other numbers.
Tensor numbers(std::int64_t rows, std::int64_t columns, torch::ScalarType type) {
  return (torch::randn({rows, columns}, torch::kFloat64) *
          torch::randn({rows, columns}, torch::kFloat64).exp())
      .to(type);
}

struct Shape {
  std::int64_t rows, height, width;
};
constexpr Shape kShapes[] = {{1, 1, 1},     {39, 5, 3},     {40, 24, 16},    {41, 25, 17},   {80, 48, 64},
                             {81, 49, 65},  {256, 10, 128}, {100, 130, 10},  {7, 100, 33},   {120, 13, 784},
                             {50, 768, 96}, {64, 200, 31},  {41'003, 3, 18}, {82'000, 20, 2}};

template <class T, class S>
void check(const Shape& shape) {
  const auto type = torch::CppTypeToScalarType<T>::value, to = torch::CppTypeToScalarType<S>::value;
  const auto left = numbers(shape.rows, shape.height, type), right = numbers(shape.rows, shape.width, type);
  const auto start = numbers(shape.height, shape.width, to);
  auto expected = start.clone();
  add_in_order<T, S>(left, right, expected);
  const auto all = product_kernels<T>();
  for (int k = 0; k < all.count; ++k) {
    SCOPED_TRACE(
        fmt::format("{}: {} rows of {} by {}", all.kernels[k]->name, shape.rows, shape.height, shape.width));
    auto sum = start.clone();
    add_product_by(*all.kernels[k], left, right, sum);
    EXPECT_TRUE(at::equal(sum, expected));
    auto transposed = start.t().clone(at::MemoryFormat::Contiguous);
    add_product_by(*all.kernels[k], left, right, transposed.t());
    EXPECT_TRUE(at::equal(transposed.t(), expected)) << "in a sum that lies transposed";
  }
}

TEST(ProductKernels, AddUpInOneOrder) {
  torch::manual_seed(11);
  for (const auto& shape : kShapes) {
    check<float, float>(shape);
    check<float, double>(shape);
    check<double, float>(shape);
    check<double, double>(shape);
  }
}

TEST(ProductKernels, AreWhatAddProductAndProductUse) {
  torch::manual_seed(12);
  for (const auto& shape : kShapes) {
    SCOPED_TRACE(fmt::format("{} rows of {} by {}", shape.rows, shape.height, shape.width));
    const auto left = numbers(shape.rows, shape.height, torch::kFloat32);
    const auto right = numbers(shape.rows, shape.width, torch::kFloat32);
    auto expected = torch::zeros({shape.height, shape.width});
    add_in_order<float, float>(left, right, expected);
    auto sum = torch::zeros_like(expected), alone = torch::full_like(expected, NAN);
    add_product(left, right, sum);
    EXPECT_TRUE(at::equal(sum, expected));
    product(left.const_data_ptr<float>(), right.const_data_ptr<float>(), shape.rows, shape.height,
            shape.width, alone.mutable_data_ptr<float>());
    EXPECT_TRUE(at::equal(alone, expected));
  }
}

// No more than the bound of samples.h; without the switch, and again after it, the bits of all.
TEST(ProductKernels, AreFusedWhereThatIsAllowed) {
  const auto* kernel = fused_product_kernel();
  if (kernel == nullptr) GTEST_SKIP() << "SKIPPED: needs a processor with AVX-512";
  torch::manual_seed(15);
  for (const auto& shape : kShapes) {
    SCOPED_TRACE(fmt::format("{} rows of {} by {}", shape.rows, shape.height, shape.width));
    const auto left = numbers(shape.rows, shape.height, torch::kFloat32);
    const auto right = numbers(shape.rows, shape.width, torch::kFloat32);
    const auto of = [&](auto&& add) {
      auto sum = torch::zeros({shape.height, shape.width}, torch::kFloat64);
      add(sum);
      return sum;
    };
    const auto usual = of([&](Tensor& sum) { add_product(left, right, sum); });
    const auto fused = of([&](Tensor& sum) {
      const FusedProducts allowed(true);
      add_product(left, right, sum);
    });
    EXPECT_TRUE(at::equal(fused, of([&](Tensor& sum) { add_product_by(*kernel, left, right, sum); })));
    EXPECT_TRUE(at::equal(usual, of([&](Tensor& sum) { add_product(left, right, sum); })));
    EXPECT_EQ(at::equal(usual, fused), shape.rows == 1) << "whether it is the usual kernel";
    const auto exact = at::mm(left.t().to(torch::kFloat64), right.to(torch::kFloat64));
    const auto terms = at::mm(left.t().abs().to(torch::kFloat64), right.abs().to(torch::kFloat64));
    const double rounding = 42 + static_cast<double>(shape.rows) / 40'960;
    EXPECT_LE(((fused - exact).abs() / terms).max().item<double>(), rounding * 0x1p-24);
  }
}

// Within the bound of samples.h, which is that of an entry alone however large the others are.
TEST(GramMatrices, OfBfloat16AreThoseOfItsNumbers) {
  if (narrow_inner_products() == nullptr) GTEST_SKIP() << "SKIPPED: needs a processor with AVX512-BF16";
  torch::manual_seed(16);
  for (const std::int64_t count : {1, 3, 4, 6, 29}) {
    for (const std::int64_t width : {1, 31, 33, 384, 512, 513, 1537}) {
      SCOPED_TRACE(fmt::format("{} vectors of {}", count, width));
      const auto narrow = numbers(3 * count, width, torch::kBFloat16).view({3, count, width});
      const auto wide = narrow.to(torch::kFloat64);
      const auto found = gram_matrices(narrow);
      EXPECT_EQ(found.scalar_type(), torch::kFloat32);
      const auto exact = at::bmm(wide, wide.transpose(1, 2));
      const auto terms = at::bmm(wide.abs(), wide.abs().transpose(1, 2));
      EXPECT_LE(((found - exact).abs() / terms).max().item<double>(), 41 * 0x1p-24);
      EXPECT_TRUE(at::equal(found, found.transpose(1, 2)));
      EXPECT_TRUE(near_relative(gram_matrices(narrow.to(torch::kFloat32)), exact, 1e-5));
    }
  }
}

TEST(GramMatrices, OfBfloat16AreNotFiniteWhereItIsNot) {
  if (narrow_inner_products() == nullptr) GTEST_SKIP() << "SKIPPED: needs a processor with AVX512-BF16";
  auto narrow = torch::ones({2, 5, 40}, torch::kBFloat16);
  narrow[0][4][39] = NAN;
  narrow[1][0][0] = std::numeric_limits<float>::infinity();
  const auto finite = at::isfinite(gram_matrices(narrow));
  EXPECT_FALSE(finite[0][4].any().item<bool>());
  EXPECT_FALSE(finite[1][0].any().item<bool>());
  EXPECT_EQ(finite.sum().item<std::int64_t>(), 2 * 16);
}

// All rows in one call and not. What is added up in float64 is off by its last rounding alone.
TEST(ProductsOnADevice, AreTheProductWhateverThePieces) {
  torch::manual_seed(13);
  for (const auto& [rows, height, width] : {Shape{513, 5, 3}, Shape{41'003, 3, 18}, Shape{6000, 3000, 5}}) {
    const auto left = torch::randn({height, rows}).t(), right = torch::randn({rows, width});
    auto sum = torch::zeros({width, height}).t();
    add_product_on_device(left, right, sum);
    const auto expected = at::mm(left.t().to(torch::kFloat64), right.to(torch::kFloat64));
    EXPECT_LE(((sum - expected).abs() / expected.abs()).max().item<double>(), 0x1p-23) << rows;
  }
}

// Columns that are all in one call and not.
TEST(ProductsOnADevice, OfVectorsAreTakenInFloat64) {
  torch::manual_seed(14);
  for (const std::int64_t width : {3, 64, 1500}) {
    const auto left = torch::randn({40, 90, width}), right = torch::randn({40, 300, width});
    const auto expected = at::bmm(left.to(torch::kFloat64), right.to(torch::kFloat64).transpose(1, 2));
    EXPECT_TRUE(near_relative(inner_products_on_device(left, right), expected, 1e-14)) << width;
  }
}

}  // namespace product_kernel_test
}  // namespace hyfreedp::models
