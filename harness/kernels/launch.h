// Launches of the kernels on raw device memory; defined in the .cu files. Internal to the room:
// others include kernels.h.
//
// `queue` is a cudaStream_t. A launch that CUDA refuses leaves its error for the caller's check of
// cudaGetLastError.
#pragma once

#include <cstdint>

#include "harness/kernels/norms_body.h"
#include "harness/kernels/update_body.h"

namespace hyfreedp::kernels {

using Queue = void*;

template <class T>  // float, double, Bf16
void launch_row_norms(Queue queue, const T* values, std::int64_t rows, std::int64_t columns,
                      double* partials);
template <class T>  // float, double, Bf16
void launch_embedding_norm(Queue queue, std::int64_t samples, const EmbeddingNorm<T>& at);
void launch_add_partials(Queue queue, const double* partials, std::int64_t rows, std::int64_t columns,
                         double* sums);

template <class T>  // float, double
void launch_release(Queue queue, const Noise& noise, T* gradient, std::int64_t size);
template <class T>
void launch_adam(Queue queue, const AdamNumbers& with, const Vectors<T>& at);
template <class T>
void launch_sgd(Queue queue, const SgdNumbers& with, const Vectors<T>& at);
// Grids of the two below.
inline constexpr std::int64_t kGridBlocks = 1024;
// partials [kGridBlocks]
template <class T>
void launch_subtract(Queue queue, const T* weights, const T* direction, double x, std::int64_t size, T* out,
                     std::uint64_t* partials);
// partials [kGridBlocks, 2]
void launch_digest(Queue queue, const std::uint32_t* words, std::int64_t size, std::uint64_t* partials);

}  // namespace hyfreedp::kernels
