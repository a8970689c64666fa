#include "harness/kernels/cuda_team.h"
#include "harness/kernels/launch.h"

namespace hyfreedp::kernels {
namespace {

template <class T>
__global__ void row_norms_kernel(const T* values, std::int64_t columns, std::int64_t parts,
                                 double* partials) {
  __shared__ double shared[kThreads];
  row_norms_body(CudaTeam(), values, columns, parts, partials, shared);
}

template <class T>
__global__ void embedding_norm_kernel(EmbeddingNorm<T> at) {
  __shared__ double shared[kThreads];
  embedding_norm_body(CudaTeam(), at, shared);
}

__global__ void add_partials_kernel(const double* partials, std::int64_t rows, std::int64_t columns,
                                    double* sums) {
  add_partials_body(CudaTeam(), partials, rows, columns, sums);
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

}  // namespace

template <class T>
void launch_row_norms(Queue queue, const T* values, std::int64_t rows, std::int64_t columns,
                      double* partials) {
  const auto parts = divided_up(columns, kRowPiece);
  const auto blocks = static_cast<unsigned>(rows * parts);
  if (blocks == 0) return;
  row_norms_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(queue)>>>(values, columns, parts,
                                                                              partials);
}

template <class T>
void launch_embedding_norm(Queue queue, std::int64_t samples, const EmbeddingNorm<T>& at) {
  const auto blocks = static_cast<unsigned>(samples * divided_up(at.width, kThreads));
  if (blocks == 0) return;
  embedding_norm_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(queue)>>>(at);
}

void launch_add_partials(Queue queue, const double* partials, std::int64_t rows, std::int64_t columns,
                         double* sums) {
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>(divided_up(rows, kThreads));
  add_partials_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(queue)>>>(partials, rows, columns,
                                                                                 sums);
}

template void launch_row_norms(Queue, const float*, std::int64_t, std::int64_t, double*);
template void launch_row_norms(Queue, const double*, std::int64_t, std::int64_t, double*);
template void launch_row_norms(Queue, const Bf16*, std::int64_t, std::int64_t, double*);
template void launch_embedding_norm(Queue, std::int64_t, const EmbeddingNorm<float>&);
template void launch_embedding_norm(Queue, std::int64_t, const EmbeddingNorm<double>&);
template void launch_embedding_norm(Queue, std::int64_t, const EmbeddingNorm<Bf16>&);

}  // namespace hyfreedp::kernels
