// The inner loops of add_product() (samples.h): sums over rows of products of entries of two
// matrices.
//
// 40 rows are added up in the type of the matrices, in order, and such sums in float64, in order.
// Products and sums are rounded one after the other. How many columns stand in a vector or in a
// tile has no part in this, so all kernels compute the same bits. A tile of such sums stays in
// registers and the float64 totals of a block in a core's first cache.
//
// Fused multiply-add, whose bits are others, is 1.2 to 1.7 times as fast (tests/bench/README.md). A
// pass in bfloat16, whose bits depend on the processor in any case, uses it where there is AVX-512.
//
// This file includes no header of the standard library that defines functions (see patch_kernel.h).
#pragma once

#include <cstdint>

namespace hyfreedp::models {

// Rows that are added up in the type of the matrices.
inline constexpr std::int64_t kRowsAtOnce = 40;
// The largest block.
inline constexpr std::int64_t kBlockHeight = 48, kBlockWidth = 64;

template <class T>
struct ProductKernel {
  const char* name;
  // totals[i * kBlockWidth + j] = sum_k left[k * left_stride + i] right[k * right_stride + j] over
  // `rows` rows, for i < height <= kBlockHeight and j < width <= kBlockWidth. Totals beyond `width`
  // may be written.
  void (*fill)(const T* left, std::int64_t left_stride, const T* right, std::int64_t right_stride,
               std::int64_t rows, std::int64_t height, std::int64_t width, double* totals);
};

// The kernels that this processor can run, at most three, the fastest last.
template <class T>
struct ProductKernels {
  const ProductKernel<T>* kernels[3];
  int count;
};
template <class T>
ProductKernels<T> product_kernels();
// The fastest kernel for float32 that rounds a product and the sum with it once; null where this
// processor has none.
const ProductKernel<float>* fused_product_kernel();
template <>
ProductKernels<float> product_kernels<float>();
template <>
ProductKernels<double> product_kernels<double>();

}  // namespace hyfreedp::models
