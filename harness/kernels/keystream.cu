#include "harness/kernels/cuda_team.h"
#include "harness/kernels/launch.h"

namespace hyfreedp::kernels {
namespace {

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__global__ void words_kernel(Stream stream, std::uint64_t first, std::int64_t size, std::uint64_t* out) {
  words_body(CudaTeam(), stream, first, size, out);
}

__global__ void uniforms_kernel(Stream stream, std::uint64_t first, std::int64_t size, double* out) {
  uniforms_body(CudaTeam(), stream, first, size, out);
}

__global__ void normals_kernel(Stream stream, std::uint64_t first, std::int64_t size, double* out) {
  normals_body(CudaTeam(), stream, first, size, out);
}

__global__ void poisson_kernel(Stream stream, std::uint64_t threshold, std::int64_t size,
                               std::uint8_t* mask) {
  poisson_body(CudaTeam(), stream, threshold, size, mask);
}

template <class T>
__global__ void add_normals_kernel(Stream stream, std::uint64_t first, std::int64_t size, double scale,
                                   T* destination) {
  add_normals_body(CudaTeam(), stream, first, size, scale, destination);
}

// Calls launch(blocks, queue) unless there is nothing to do: CUDA refuses an empty grid.
template <class Launch>
void for_pieces(Queue queue, std::uint64_t first, std::int64_t size, Launch launch) {
  if (size == 0) return;
  const auto pieces =
      (first % kWordsPerBlock + static_cast<std::uint64_t>(size) + kWordsPerBlock - 1) / kWordsPerBlock;
  launch(blocks_for(pieces), static_cast<cudaStream_t>(queue));
}

}  // namespace

void launch_words(Queue queue, const Stream& stream, std::uint64_t first, std::int64_t size,
                  std::uint64_t* out) {
  for_pieces(queue, first, size, [&](unsigned blocks, cudaStream_t on) {
    words_kernel<<<blocks, kThreads, 0, on>>>(stream, first, size, out);
  });
}

void launch_uniforms(Queue queue, const Stream& stream, std::uint64_t first, std::int64_t size, double* out) {
  for_pieces(queue, first, size, [&](unsigned blocks, cudaStream_t on) {
    uniforms_kernel<<<blocks, kThreads, 0, on>>>(stream, first, size, out);
  });
}

void launch_normals(Queue queue, const Stream& stream, std::uint64_t first, std::int64_t size, double* out) {
  for_pieces(queue, first, size, [&](unsigned blocks, cudaStream_t on) {
    normals_kernel<<<blocks, kThreads, 0, on>>>(stream, first, size, out);
  });
}

void launch_poisson(Queue queue, const Stream& stream, std::uint64_t threshold, std::int64_t size,
                    std::uint8_t* mask) {
  for_pieces(queue, 0, size, [&](unsigned blocks, cudaStream_t on) {
    poisson_kernel<<<blocks, kThreads, 0, on>>>(stream, threshold, size, mask);
  });
}

template <class T>
void launch_add_normals(Queue queue, const Stream& stream, std::uint64_t first, std::int64_t size,
                        double scale, T* destination) {
  for_pieces(queue, first, size, [&](unsigned blocks, cudaStream_t on) {
    add_normals_kernel<<<blocks, kThreads, 0, on>>>(stream, first, size, scale, destination);
  });
}

template void launch_add_normals(Queue, const Stream&, std::uint64_t, std::int64_t, double, float*);
template void launch_add_normals(Queue, const Stream&, std::uint64_t, std::int64_t, double, double*);

}  // namespace hyfreedp::kernels
