#include "harness/training/weight_step.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "harness/base/result.h"
#include "harness/base/wide.h"
#include "harness/kernels/kernels.h"

namespace hyfreedp::training {
namespace {

constexpr std::int64_t kPiece = 16384;

// Adding the exponent's lowest bit to an exponent of all ones carries into the sign's place, which
// was cleared: an OR over all elements tells whether one of them is infinite or NaN, in plain
// integer arithmetic.
template <class T>
HYFREEDP_WIDE bool subtract_piece(const T* weights, const T* direction, double x, T* out, std::int64_t size) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kFraction = sizeof(T) == 4 ? 23 : 52;
  constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
  constexpr Bits kExponent = (kSign - 1) >> kFraction << kFraction;
  Bits carry = 0;
#pragma GCC ivdep  // `out` may be `weights`
  for (std::int64_t i = 0; i < size; ++i) {
    const T value = static_cast<T>(static_cast<double>(weights[i]) - x * static_cast<double>(direction[i]));
    out[i] = value;
    carry |= (std::bit_cast<Bits>(value) & kExponent) + (Bits{1} << kFraction);
  }
  return (carry & kSign) == 0;
}

}  // namespace

bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out) {
  if (!weights.is_cpu()) return kernels::subtract_scaled(weights, direction, x, out);
  HYFREEDP_CHECK(weights.is_contiguous() && direction.is_contiguous() && out.is_contiguous() &&
                     weights.scalar_type() == direction.scalar_type() &&
                     weights.scalar_type() == out.scalar_type() && weights.numel() == direction.numel() &&
                     weights.numel() == out.numel(),
                 "weights and direction are dense vectors of one type and size");
  std::atomic<bool> finite = true;
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "subtract_scaled", [&] {
    const auto* const w = weights.const_data_ptr<scalar_t>();
    const auto* const u = direction.const_data_ptr<scalar_t>();
    auto* const result = out.data_ptr<scalar_t>();
    at::parallel_for(0, weights.numel(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      if (!subtract_piece(w + begin, u + begin, x, result + begin, end - begin)) finite = false;
    });
  });
  return finite;
}

}  // namespace hyfreedp::training
