#include "optimizers/sums.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace hyfreedp::optimizers {
namespace {

constexpr std::int64_t kBlock = 65536;

// Eight partial sums, so that the compiler may use vector registers without reordering anything.
template <class Term>
double sum_of_block(std::int64_t begin, std::int64_t end, Term term) {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < end; ++i) lanes[(i - begin) % kLanes] += term(i);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

// Blocks by all threads, their sums in order.
template <class Term>
double ordered_sum(std::int64_t size, Term term) {
  std::vector<double> sums(static_cast<std::size_t>((size + kBlock - 1) / kBlock));
  at::parallel_for(0, std::ssize(sums), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      sums[static_cast<std::size_t>(block)] =
          sum_of_block(block * kBlock, std::min(size, (block + 1) * kBlock), term);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double sum_of_products(const torch::Tensor& a, const torch::Tensor& b) {
  if (!a.is_cpu()) return a.to(torch::kDouble).dot(b.to(torch::kDouble)).item<double>();
  const auto left = a.contiguous();
  const auto right = b.contiguous();
  return AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "sum_of_products", [&] {
    const scalar_t* x = left.const_data_ptr<scalar_t>();
    const scalar_t* y = right.const_data_ptr<scalar_t>();
    return ordered_sum(left.numel(), [=](std::int64_t i) { return double(x[i]) * double(y[i]); });
  });
}

double sum_of_squares(const torch::Tensor& a) { return sum_of_products(a, a); }

double sum_of_magnitudes(const torch::Tensor& a) {
  if (!a.is_cpu()) return a.to(torch::kDouble).abs().sum().item<double>();
  const auto dense = a.contiguous();
  return AT_DISPATCH_FLOATING_TYPES(dense.scalar_type(), "sum_of_magnitudes", [&] {
    const scalar_t* x = dense.const_data_ptr<scalar_t>();
    return ordered_sum(dense.numel(), [=](std::int64_t i) { return std::abs(double(x[i])); });
  });
}

}  // namespace hyfreedp::optimizers
