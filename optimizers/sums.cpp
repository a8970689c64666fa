#include "optimizers/sums.h"

#include <ATen/Dispatch.h>
#include <array>
#include <cmath>

namespace hyfreedp::optimizers {
namespace {

// Eight partial sums, so that the compiler may use vector registers without reordering anything.
template <class Term>
double ordered_sum(std::int64_t size, Term term) {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < size; ++i) lanes[i % kLanes] += term(i);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
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
