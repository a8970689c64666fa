#include "harness/kernels/cuda_team.h"
#include "harness/kernels/launch.h"

namespace hyfreedp::kernels {
namespace {

template <class T>
__global__ void release_kernel(Noise noise, T* gradient, std::int64_t size) {
  release_body(CudaTeam(), noise, gradient, size);
}

template <class T>
__global__ void adam_kernel(AdamNumbers with, Vectors<T> at) {
  adam_body(CudaTeam(), with, at);
}

template <class T>
__global__ void sgd_kernel(SgdNumbers with, Vectors<T> at) {
  sgd_body(CudaTeam(), with, at);
}

template <class T>
__global__ void subtract_kernel(const T* weights, const T* direction, double x, std::int64_t size, T* out,
                                std::uint64_t* partials) {
  __shared__ std::uint64_t shared[kThreads];
  subtract_body(CudaTeam(), weights, direction, x, size, out, partials, shared);
}

__global__ void digest_kernel(const std::uint32_t* words, std::int64_t size, std::uint64_t* partials) {
  __shared__ std::uint64_t shared[kThreads];
  digest_body(CudaTeam(), words, size, partials, shared);
}

unsigned blocks_for(std::uint64_t first, std::int64_t size) {
  const auto pieces =
      (first % kWordsPerBlock + static_cast<std::uint64_t>(size) + kWordsPerBlock - 1) / kWordsPerBlock;
  return static_cast<unsigned>((pieces + kThreads - 1) / kThreads);
}

}  // namespace

template <class T>
void launch_release(Queue queue, const Noise& noise, T* gradient, std::int64_t size) {
  if (size == 0) return;
  release_kernel<<<blocks_for(noise.first, size), kThreads, 0, static_cast<cudaStream_t>(queue)>>>(
      noise, gradient, size);
}

template <class T>
void launch_adam(Queue queue, const AdamNumbers& with, const Vectors<T>& at) {
  if (at.size == 0) return;
  adam_kernel<<<blocks_for(0, at.size), kThreads, 0, static_cast<cudaStream_t>(queue)>>>(with, at);
}

template <class T>
void launch_sgd(Queue queue, const SgdNumbers& with, const Vectors<T>& at) {
  if (at.size == 0) return;
  sgd_kernel<<<blocks_for(0, at.size), kThreads, 0, static_cast<cudaStream_t>(queue)>>>(with, at);
}

template <class T>
void launch_subtract(Queue queue, const T* weights, const T* direction, double x, std::int64_t size, T* out,
                     std::uint64_t* partials) {
  subtract_kernel<<<kGridBlocks, kThreads, 0, static_cast<cudaStream_t>(queue)>>>(weights, direction, x, size,
                                                                                  out, partials);
}

void launch_digest(Queue queue, const std::uint32_t* words, std::int64_t size, std::uint64_t* partials) {
  digest_kernel<<<kGridBlocks, kThreads, 0, static_cast<cudaStream_t>(queue)>>>(words, size, partials);
}

template void launch_release(Queue, const Noise&, float*, std::int64_t);
template void launch_release(Queue, const Noise&, double*, std::int64_t);
template void launch_adam(Queue, const AdamNumbers&, const Vectors<float>&);
template void launch_adam(Queue, const AdamNumbers&, const Vectors<double>&);
template void launch_sgd(Queue, const SgdNumbers&, const Vectors<float>&);
template void launch_sgd(Queue, const SgdNumbers&, const Vectors<double>&);
template void launch_subtract(Queue, const float*, const float*, double, std::int64_t, float*,
                              std::uint64_t*);
template void launch_subtract(Queue, const double*, const double*, double, std::int64_t, double*,
                              std::uint64_t*);

}  // namespace hyfreedp::kernels
