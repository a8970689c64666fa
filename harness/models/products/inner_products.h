// Inner products of vectors in bfloat16, from which a ghost norm is computed (../layers/samples.h).
//
// This file includes no header of the standard library that defines functions (see patch_kernel.h).
#pragma once

#include <cstdint>

namespace hyfreedp::models {

// products[s, t] = sum_k vectors[s, k] vectors[t, k].
//   vectors   [count, width] row-major, the bits of bfloat16 numbers
//   products  [count, count] row-major
// Of each 512 numbers of a vector the products are added up in float32 with at most 36 roundings
// after each other, and such sums in float64. Numbers below 2^-126 count as zero.
using NarrowInnerProducts = void (*)(const std::uint16_t* vectors, std::int64_t count, std::int64_t width,
                                     float* products);
// Null where this processor cannot multiply bfloat16 numbers.
NarrowInnerProducts narrow_inner_products();

}  // namespace hyfreedp::models
