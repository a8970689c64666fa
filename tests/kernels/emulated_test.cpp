// The kernels' own text, run on the CPU thread by thread, against the reference implementations:
// index arithmetic, ends, barriers, bits.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "harness/kernels/launch.h"
#include "harness/kernels/stream_state.h"
#include "tests/kernels/cases.h"
#include "tests/kernels/emulated_device.h"

namespace hyfreedp::kernels {
namespace emulated_test {

using torch::Tensor;

std::uint64_t blocks_for(const Piece& piece) { return pieces_of(piece.first, piece.size) / kThreads + 1; }

Noise noise_of(const PrivateMean& mean) {
  return {stream_of(mean.noise.key, mean.noise.address), mean.noise.first, mean.clip, mean.scale,
          mean.divisor};
}

template <class T>
Vectors<T> raw(StepVectors& vectors) {
  const auto at = [](Tensor& values) { return values.defined() ? values.data_ptr<T>() : nullptr; };
  return {at(vectors.gradient), at(vectors.weights),   at(vectors.first),       at(vectors.second),
          at(vectors.largest),  at(vectors.direction), vectors.gradient.numel()};
}

// Beyond 2^20 elements in one launch: every thread has the piece of the stream that is its own.
TEST(Emulated, LongVectorsNeverGoBackToTheirBeginning) {
  constexpr Piece kLong{5, (1 << 20) + 4099};
  const PrivateMean mean{{kKey, kAddress, kLong.first}, 0.7, 96, 0.5};
  auto released = torch::zeros({kLong.size}), reference = torch::zeros_like(released);
  run_grid(blocks_for(kLong), [&](const EmulatedTeam& team) {
    release_body(team, noise_of(mean), released.data_ptr<float>(), kLong.size);
  });
  release_mean(mean, reference);
  EXPECT_TRUE(same_bits(released, reference));
}

Tensor added_up(Tensor partials, std::int64_t rows) {
  auto sums = torch::zeros({rows}, torch::kFloat64);
  run_grid(static_cast<std::uint64_t>(rows) / kThreads + 1, [&](const EmulatedTeam& team) {
    add_partials_body(team, partials.data_ptr<double>(), rows, partials.numel() / rows,
                      sums.data_ptr<double>());
  });
  return sums;
}

// Calls work with the kernels' type of the tensor.
template <class Work>
void with_type(const Tensor& values, Work work) {
  if (values.scalar_type() == torch::kFloat64) return work(double());
  if (values.scalar_type() == torch::kFloat32) return work(float());
  work(Bf16());
}

template <class T>
const T* pointer(const Tensor& values) {
  return static_cast<const T*>(values.const_data_ptr());
}

TEST(Emulated, RowNorms) {
  for (const auto type : kNormTypes) {
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{300}, 2 * kRowPiece + 5}) {
      const auto values = numbers({3, columns}, 21).to(type);
      const auto parts = (columns + kRowPiece - 1) / kRowPiece;
      auto partials = torch::full({3 * parts}, NAN, torch::kFloat64);
      auto reference = torch::zeros({3}, torch::kFloat64);
      std::vector<double> shared(kThreads);
      with_type(values, [&](auto one) {
        run_grid_with_barriers(static_cast<std::uint64_t>(3 * parts), [&](const EmulatedTeam& team) {
          row_norms_body(team, pointer<decltype(one)>(values), columns, parts, partials.data_ptr<double>(),
                         shared.data());
        });
      });
      add_row_norms(values, reference);
      EXPECT_LT(relative_error(added_up(partials, 3), reference), 1e-13) << type << " " << columns;
    }
  }
}

TEST(Emulated, EmbeddingNorms) {
  for (const auto& shape : kLookupShapes) {
    for (const auto type : kNormTypes) {
      const auto ids = lookup_ids(shape);
      const auto gradients = numbers({shape.samples, shape.positions, shape.width}, 24).to(type);
      const auto [sorted, order] = at::sort(ids, true, 1, false);
      const auto parts = (shape.width + kThreads - 1) / kThreads;
      auto partials = torch::full({shape.samples * parts}, NAN, torch::kFloat64);
      std::vector<double> shared(kThreads);
      with_type(gradients, [&, &sorted_ids = sorted, &places = order](auto one) {
        using T = decltype(one);
        const EmbeddingNorm<T> at{pointer<std::int64_t>(sorted_ids),
                                  pointer<std::int64_t>(places),
                                  pointer<T>(gradients),
                                  shape.positions,
                                  shape.width,
                                  shape.padding.value_or(-1),
                                  partials.data_ptr<double>()};
        run_grid_with_barriers(static_cast<std::uint64_t>(partials.numel()), [&](const EmulatedTeam& team) {
          embedding_norm_body(team, at, shared.data());
        });
      });
      auto reference = torch::zeros({shape.samples}, torch::kFloat64);
      add_embedding_norms(ids, gradients, shape.padding, reference);
      EXPECT_LT(relative_error(added_up(partials, shape.samples), reference), 1e-12) << type;
    }
  }
}

template <class T>
void check_steps(torch::ScalarType type, std::int64_t size, bool largest) {
  const auto blocks = blocks_for({0, size});
  const auto start = step_vectors(size, type, largest);
  const auto adam = adam_numbers(0, 0.01);
  auto got = copied(start), reference = copied(start);
  run_grid(blocks, [&](const EmulatedTeam& team) { adam_body(team, adam, raw<T>(got)); });
  adam_step(adam, reference);
  EXPECT_TRUE(same_bits(got, reference)) << "adam, size " << size;

  const SgdNumbers sgd{.momentum = 0.9, .intake = 0.8, .decay = 0.01, .first = false, .nesterov = largest};
  got = copied(start), reference = copied(start);
  if (!largest) got.first = reference.first = torch::Tensor();
  run_grid(blocks, [&](const EmulatedTeam& team) { sgd_body(team, sgd, raw<T>(got)); });
  sgd_step(sgd, reference);
  EXPECT_TRUE(same_bits(got, reference)) << "sgd, size " << size;
}

template <class T>
void check_release(torch::ScalarType type, const PrivateMean& mean, std::int64_t size) {
  auto sum = numbers({size}, 50).to(type), reference = sum.clone();
  run_grid(blocks_for({mean.noise.first, size}),
           [&](const EmulatedTeam& team) { release_body(team, noise_of(mean), sum.data_ptr<T>(), size); });
  release_mean(mean, reference);
  EXPECT_TRUE(same_bits(sum, reference)) << "size " << size << ", first " << mean.noise.first;
}

TEST(Emulated, StepsAndReleasesAreTheReferencesBitForBit) {
  for (const auto& piece : kPieces) {
    check_steps<float>(torch::kFloat32, piece.size, true);
    check_steps<double>(torch::kFloat64, piece.size, false);
    for (const double scale : {0.0, 0.7}) {
      const PrivateMean mean{{kKey, kAddress, piece.first}, scale, 96, 0.5};
      check_release<float>(torch::kFloat32, mean, piece.size);
      check_release<double>(torch::kFloat64, mean, piece.size);
    }
  }
}

TEST(Emulated, SubtractionCountsWhatIsNotFinite) {
  for (const float spoilt : {1.0f, INFINITY, NAN}) {
    auto weights = numbers({1001}, 25).to(torch::kFloat32);
    weights[700] = spoilt;
    const auto direction = numbers({1001}, 26).to(torch::kFloat32);
    auto got = weights.clone(), reference = torch::empty_like(weights);
    std::vector<std::uint64_t> bad(2), shared(kThreads);
    run_grid_with_barriers(2, [&](const EmulatedTeam& team) {
      subtract_body(team, got.const_data_ptr<float>(), direction.const_data_ptr<float>(), 0.3, 1001,
                    got.data_ptr<float>(), bad.data(), shared.data());
    });
    EXPECT_EQ(subtract_scaled(weights, direction, 0.3, reference), spoilt == 1.0f);
    EXPECT_EQ(bad[0] + bad[1], spoilt == 1.0f ? 0u : 1u);
    EXPECT_TRUE(same_bits(got, reference));
  }
}

TEST(Emulated, DigestDoesNotDependOnTheGrid) {
  const auto values = numbers({3001}, 27).to(torch::kFloat32);
  for (const std::uint64_t blocks : {1, 3, 16}) {
    std::vector<std::uint64_t> partials(2 * blocks), shared(kThreads);
    run_grid_with_barriers(blocks, [&](const EmulatedTeam& team) {
      digest_body(team, pointer<std::uint32_t>(values), 3001, partials.data(), shared.data());
    });
    std::array<std::uint64_t, 2> sums{};
    for (std::size_t i = 0; i < partials.size(); ++i) sums[i % 2] += partials[i];
    EXPECT_EQ(sums, digest(values)) << blocks;
  }
}

}  // namespace emulated_test
}  // namespace hyfreedp::kernels
