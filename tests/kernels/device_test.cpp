// The kernels on a GPU against their reference implementations. Skips loudly where there is none.
#include <ATen/Context.h>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "tests/kernels/cases.h"
#include "tests/need_device.h"

namespace hyfreedp::kernels {
namespace device_test {

using torch::Tensor;

class DeviceKernels : public ::testing::Test {
 protected:
  void SetUp() override { HYFREEDP_NEED_DEVICE(); }
  static Tensor moved(const Tensor& values) { return values.to(torch::kCUDA); }
  static Tensor zeros(std::int64_t size, torch::Device device) {
    return torch::zeros({size}, torch::TensorOptions(device).dtype(torch::kFloat64));
  }
};

// Ten million: enough for tails beyond 5 sd and every branch of the transform.
TEST_F(DeviceKernels, TenMillionNormalsAreEqualBitForBit) {
  auto reference = torch::zeros({10'000'000}, torch::kFloat64), got = moved(reference);
  const PrivateMean noise{{kKey, kAddress, 0}, 1, 1, 1};
  release_mean(noise, reference);
  release_mean(noise, got);
  EXPECT_TRUE(same_bits(got, reference));
}

TEST_F(DeviceKernels, RowNorms) {
  for (const auto type : kNormTypes) {
    for (const std::int64_t columns : {1, 300, 100'000}) {
      const auto values = numbers({5, columns}, 31).to(type);
      auto reference = zeros(5, torch::kCPU), got = zeros(5, torch::kCUDA);
      add_row_norms(values, reference);
      add_row_norms(moved(values), got);
      EXPECT_LT(relative_error(got, reference), 1e-12) << type << " " << columns;
    }
  }
}

TEST_F(DeviceKernels, EmbeddingNorms) {
  auto shapes = kLookupShapes;
  shapes.push_back({8, 256, 768, 100, 0});
  for (const auto& shape : shapes) {
    for (const auto type : kNormTypes) {
      const auto ids = lookup_ids(shape);
      const auto gradients = numbers({shape.samples, shape.positions, shape.width}, 34).to(type);
      auto reference = zeros(shape.samples, torch::kCPU), got = zeros(shape.samples, torch::kCUDA);
      add_embedding_norms(ids, gradients, shape.padding, reference);
      add_embedding_norms(moved(ids), moved(gradients), shape.padding, got);
      EXPECT_LT(relative_error(got, reference), 1e-12) << type;
    }
  }
}

// CUDA refuses a grid of no blocks.
TEST_F(DeviceKernels, EmptyBatchesAndVectorsAreNothingToDo) {
  auto none = zeros(0, torch::kCUDA), norms = zeros(2, torch::kCUDA);
  const auto ids = [](std::int64_t samples, std::int64_t positions) {
    return torch::zeros({samples, positions}, torch::TensorOptions(torch::kCUDA).dtype(torch::kInt64));
  };
  add_row_norms(moved(numbers({0, 7}, 37)), none);
  add_embedding_norms(ids(0, 5), moved(numbers({0, 5, 4}, 37)), 0, none);
  add_embedding_norms(ids(2, 0), moved(numbers({2, 0, 4}, 37)), 0, norms);
  EXPECT_EQ(norms.abs().sum().item<double>(), 0);
  auto empty = moved(numbers({0}, 37));
  EXPECT_TRUE(subtract_scaled(empty, empty, 0.3, empty));
  EXPECT_EQ(digest(empty), (std::array<std::uint64_t, 2>{}));
}

TEST_F(DeviceKernels, StepsAndReleasesAreEqualBitForBit) {
  for (const auto& piece : kPieces) {
    for (const auto type : {torch::kFloat32, torch::kFloat64}) {
      for (const bool largest : {false, true}) {
        const auto start = step_vectors(piece.size, type, largest);
        auto reference = copied(start), got = copied(start, torch::kCUDA);
        adam_step(adam_numbers(0, 0.01), reference);
        adam_step(adam_numbers(0, 0.01), got);
        EXPECT_TRUE(same_bits(got, reference)) << "adam " << type << ", size " << piece.size;
        reference = copied(start), got = copied(start, torch::kCUDA);
        const SgdNumbers sgd{
            .momentum = 0.9, .intake = 0.8, .decay = 0.01, .first = false, .nesterov = largest};
        sgd_step(sgd, reference);
        sgd_step(sgd, got);
        EXPECT_TRUE(same_bits(got, reference)) << "sgd " << type << ", size " << piece.size;
      }
      const PrivateMean mean{{kKey, kAddress, piece.first}, 0.7, 96, 0.5};
      auto sum = numbers({piece.size}, 30).to(type), sum_got = moved(sum);
      release_mean(mean, sum);
      release_mean(mean, sum_got);
      EXPECT_TRUE(same_bits(sum_got, sum)) << "release " << type << ", size " << piece.size;
    }
  }
}

TEST_F(DeviceKernels, SubtractionAndDigest) {
  const auto direction = numbers({1'000'001}, 35).to(torch::kFloat32);
  auto weights = numbers({1'000'001}, 36).to(torch::kFloat32);
  auto reference = torch::empty_like(weights), got = moved(reference);
  EXPECT_TRUE(subtract_scaled(weights, direction, 0.3, reference));
  EXPECT_TRUE(subtract_scaled(moved(weights), moved(direction), 0.3, got));
  EXPECT_TRUE(same_bits(got, reference));
  EXPECT_EQ(digest(got), digest(reference));
  weights[999'999] = NAN;
  EXPECT_FALSE(subtract_scaled(moved(weights), moved(direction), 0.3, got));
}

}  // namespace device_test
}  // namespace hyfreedp::kernels
