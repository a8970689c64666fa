// What the emulated kernels (emulated_test.cpp) and the device (device_test.cpp) are both tried on.
#pragma once

#include <torch/types.h>

#include "harness/kernels/kernels.h"

namespace hyfreedp::kernels {

inline const random::Key kKey = random::key_from_seed("kernel tests");
inline const random::Address kAddress{.step = 0x01020304,
                                      .tensor = 0x0506,
                                      .purpose = random::Purpose::gradient_noise,
                                      .lane = 0x07,
                                      .attempt = 0x0809};

// Reproducible numbers in [-1, 1), [shape] float64.
inline torch::Tensor numbers(std::vector<std::int64_t> shape, std::uint32_t stream) {
  auto values = torch::empty(shape, torch::kFloat64);
  const random::Address address{.step = stream, .purpose = random::Purpose::synthetic_data};
  random::fill_uniforms(kKey, address, 0,
                        {values.data_ptr<double>(), static_cast<std::size_t>(values.numel())});
  return values.mul_(2).sub_(1);
}

struct Piece {
  std::uint64_t first;
  std::int64_t size;
};
// Ends in the middle of a block of the keystream, in one block, next to 2^32 words.
inline const std::vector<Piece> kPieces = {
    {0, 1},    {0, 8},    {0, 4096},     {1, 7}, {3, 2},
    {5, 3000}, {15, 517}, {2047, 10000}, {7, 0}, {(1ull << 34) + 3, 40}};

struct LookupShape {
  std::int64_t samples, positions, width, vocabulary;
  std::optional<std::int64_t> padding;
};
inline const std::vector<LookupShape> kLookupShapes = {
    {2, 1, 3, 1, {}}, {3, 12, 5, 4, {}}, {3, 12, 300, 4, 0}, {2, 9, 257, 50, 3},
    {2, 6, 4, 2, 1},  {1, 311, 1, 7, 6}, {2, 17, 513, 1, {}}};

inline torch::Tensor lookup_ids(const LookupShape& shape) {
  auto uniforms = numbers({shape.samples, shape.positions}, 40).add_(1).div_(2);
  return uniforms.mul_(static_cast<double>(shape.vocabulary)).to(torch::kInt64);
}

inline AdamNumbers adam_numbers(double coupled, double decoupled) {
  return {.beta1 = 0.9,
          .rest1 = 1 - 0.9,
          .beta2 = 0.999,
          .rest2 = 1 - 0.999,
          .unbias1 = 1 / (1 - 0.9 * 0.9),
          .unbias2 = 1 / std::sqrt(1 - 0.999 * 0.999),
          .eps = 1e-8,
          .coupled = coupled,
          .decoupled = decoupled};
}

// Vectors of a step in its middle: moments that are not zero.
inline StepVectors step_vectors(std::int64_t size, torch::ScalarType type, bool largest) {
  const auto make = [&](std::uint32_t stream) { return numbers({size}, stream).to(type); };
  return {.gradient = make(50),
          .weights = make(51),
          .first = make(52),
          .second = make(53).abs_(),
          .largest = largest ? make(54).abs_() : torch::Tensor(),
          .direction = torch::zeros({size}, type)};
}

inline StepVectors copied(const StepVectors& from, torch::Device device = torch::kCPU) {
  const auto copy = [&](const torch::Tensor& values) {
    return values.defined() ? values.clone().to(device) : values;
  };
  return {copy(from.gradient), copy(from.weights), copy(from.first),
          copy(from.second),   copy(from.largest), copy(from.direction)};
}

inline bool same_bits(const torch::Tensor& left, const torch::Tensor& right) {
  if (!left.defined() || !right.defined()) return left.defined() == right.defined();
  const auto a = left.cpu().contiguous(), b = right.cpu().contiguous();
  return a.nbytes() == b.nbytes() &&
         (a.nbytes() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0);
}

inline bool same_bits(const StepVectors& left, const StepVectors& right) {
  return same_bits(left.gradient, right.gradient) && same_bits(left.weights, right.weights) &&
         same_bits(left.first, right.first) && same_bits(left.second, right.second) &&
         same_bits(left.largest, right.largest) && same_bits(left.direction, right.direction);
}

// Largest difference relative to the largest expected entry.
inline double relative_error(const torch::Tensor& got, const torch::Tensor& expected) {
  const auto a = got.cpu().to(torch::kFloat64), b = expected.cpu().to(torch::kFloat64);
  const double scale = b.abs().max().item<double>();
  return (a - b).abs().max().item<double>() / (scale == 0 ? 1 : scale);
}

inline const std::vector<torch::ScalarType> kNormTypes = {torch::kFloat32, torch::kFloat64, torch::kBFloat16};

}  // namespace hyfreedp::kernels
