// The CPU reference implementations against formulas of their own: per-sample gradients formed in
// full, optimizers/, harness/random.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "optimizers/adam.h"
#include "optimizers/sgd.h"
#include "tests/kernels/cases.h"

namespace hyfreedp::kernels {
namespace cpu_reference_test {

using torch::Tensor;

Tensor zeros(std::int64_t samples) { return torch::zeros({samples}, torch::kFloat64); }

TEST(CpuReference, RowNormsAreSumsOfSquares) {
  const auto values = numbers({4, 7, 30}, 1);
  auto norms = torch::ones({4}, torch::kFloat64);
  add_row_norms(values, norms);
  const auto expected = at::linalg_vector_norm(values.flatten(1), 2, at::IntArrayRef{1}).square() + 1;
  EXPECT_LT(relative_error(norms, expected), 1e-13);
}

TEST(CpuReference, EmbeddingNormIsTheNormOfTheTablesGradient) {
  for (const auto& shape : kLookupShapes) {
    const auto ids = lookup_ids(shape);
    const auto gradients = numbers({shape.samples, shape.positions, shape.width}, 4);
    auto norms = zeros(shape.samples);
    add_embedding_norms(ids, gradients, shape.padding, norms);
    for (std::int64_t i = 0; i < shape.samples; ++i) {
      auto table = torch::zeros({shape.vocabulary, shape.width}, torch::kFloat64);
      table.index_add_(0, ids[i], gradients[i]);
      if (shape.padding) table[*shape.padding].zero_();
      EXPECT_NEAR(norms[i].item<double>(), table.square().sum().item<double>(), 1e-12 * shape.width);
    }
  }
}

// What an empty Poisson batch hands on.
TEST(CpuReference, EmptyBatchesAndVectorsAreNothingToDo) {
  auto none = zeros(0), norms = zeros(2);
  add_row_norms(numbers({0, 7}, 9), none);
  add_embedding_norms(torch::zeros({0, 5}, torch::kInt64), numbers({0, 5, 4}, 9), 0, none);
  add_embedding_norms(torch::zeros({2, 0}, torch::kInt64), numbers({2, 0, 4}, 9), 0, norms);
  EXPECT_EQ(norms.abs().sum().item<double>(), 0);
  auto empty = numbers({0}, 9);
  EXPECT_TRUE(subtract_scaled(empty, empty, 0.3, empty));
  EXPECT_EQ(digest(empty), (std::array<std::uint64_t, 2>{}));
}

TEST(CpuReference, MeanIsNoisedThenDivided) {
  const auto sum = numbers({1000}, 5).to(torch::kFloat32);
  auto released = sum.clone();
  release_mean({.noise = {kKey, kAddress, 0}, .scale = 0.7, .divisor = 96, .clip = 1}, released);
  auto expected = sum.clone();
  random::add_normals(kKey, kAddress, 0, 0.7, {expected.data_ptr<float>(), 1000});
  EXPECT_TRUE(same_bits(released, expected / 96.0f));
  auto clipped = sum.clone();
  release_mean({.noise = {kKey, kAddress, 0}, .scale = 0, .divisor = 4, .clip = 0.25}, clipped);
  EXPECT_TRUE(same_bits(clipped, sum / 16.0f));
}

TEST(CpuReference, AdamStepsAreThoseOfTheOptimizer) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const bool amsgrad : {false, true}) {
      for (const bool decoupled : {false, true}) {
        auto vectors = step_vectors(777, type, amsgrad);
        const auto before = copied(vectors);
        const auto numbers_used = adam_numbers(decoupled ? 0 : 0.01, decoupled ? 0.01 : 0);
        adam_step(numbers_used, vectors);
        const optimizers::AdamRule rule{{.weight_decay = 0.01, .amsgrad = amsgrad}, decoupled};
        optimizers::AdamMoments moments{before.first, before.second, before.largest};
        auto direction = torch::zeros({777}, type);
        optimizers::adam_direction(rule, 2, before.gradient, before.weights, moments, direction);
        const double tolerance = type == torch::kFloat32 ? 1e-5 : 1e-12;
        EXPECT_LT(relative_error(vectors.direction, direction), tolerance);
        EXPECT_LT(relative_error(vectors.first, moments.first), tolerance);
        EXPECT_LT(relative_error(vectors.second, moments.second), tolerance);
        EXPECT_TRUE(same_bits(vectors.weights, before.weights));
      }
    }
  }
}

TEST(CpuReference, SgdStepsAreThoseOfTheOptimizer) {
  for (const bool nesterov : {false, true}) {
    for (const bool first : {false, true}) {
      auto vectors = step_vectors(333, torch::kFloat64, false);
      const auto before = copied(vectors);
      const SgdNumbers with{.momentum = 0.9, .intake = 1, .decay = 0.1, .first = first, .nesterov = nesterov};
      sgd_step(with, vectors);
      auto buffer = before.first.clone();
      auto direction = torch::zeros({333}, torch::kFloat64);
      optimizers::sgd_direction({.momentum = 0.9, .weight_decay = 0.1, .nesterov = nesterov}, first,
                                before.gradient, before.weights, buffer, direction);
      EXPECT_LT(relative_error(vectors.direction, direction), 1e-14);
      EXPECT_LT(relative_error(vectors.first, buffer), 1e-14);
      EXPECT_TRUE(same_bits(vectors.weights, before.weights));
    }
  }
}

TEST(CpuReference, SubtractionIsRoundedOnceAndSeesWhatIsNotFinite) {
  const auto weights = numbers({1001}, 6).to(torch::kFloat32);
  const auto direction = numbers({1001}, 7).to(torch::kFloat32);
  auto out = torch::empty_like(weights);
  EXPECT_TRUE(subtract_scaled(weights, direction, 0.3, out));
  const auto wide = weights.to(torch::kFloat64) - 0.3 * direction.to(torch::kFloat64);
  EXPECT_TRUE(same_bits(out, wide.to(torch::kFloat32)));
  EXPECT_FALSE(subtract_scaled(weights, direction, 1e300, out));
}

TEST(CpuReference, DigestSeesEveryBitAndEveryPlace) {
  const auto values = numbers({500}, 8).to(torch::kFloat32);
  const auto whole = digest(values);
  EXPECT_EQ(whole, digest(values.clone()));
  for (const std::int64_t at : {0, 1, 255, 499}) {
    auto changed = values.clone();
    auto* bits = reinterpret_cast<std::uint32_t*>(changed.data_ptr<float>());
    bits[at] ^= 1;
    const auto other = digest(changed);
    EXPECT_NE(other[0], whole[0]);
    EXPECT_NE(other[1], whole[1]);
  }
  auto swapped = values.clone();
  swapped[3] = values[4];
  swapped[4] = values[3];
  EXPECT_NE(digest(swapped), whole);
  EXPECT_NE(digest(torch::zeros({8}, torch::kFloat32)), digest(torch::zeros({9}, torch::kFloat32)));
}

TEST(CpuReference, WrongShapesAndTypesAreRefused) {
  auto norms = zeros(2);
  EXPECT_ANY_THROW(add_row_norms(numbers({3, 4}, 9), norms));
  EXPECT_ANY_THROW(add_row_norms(numbers({4, 2}, 9).t(), norms));
  auto sum = numbers({5}, 9);
  EXPECT_ANY_THROW(release_mean({.noise = {kKey, kAddress, 0}, .scale = 1, .divisor = 0}, sum));
  EXPECT_ANY_THROW(release_mean({.noise = {kKey, kAddress, 0}, .scale = INFINITY, .divisor = 1}, sum));
}

}  // namespace cpu_reference_test
}  // namespace hyfreedp::kernels
