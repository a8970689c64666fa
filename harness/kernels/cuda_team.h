// A thread's place in a CUDA grid; see team.h. For .cu files only.
#pragma once

#include <cstdint>

namespace hyfreedp::kernels {

struct CudaTeam {
  unsigned thread = threadIdx.x;
  unsigned threads = blockDim.x;
  std::uint64_t block = blockIdx.x;
  std::uint64_t blocks = gridDim.x;
  __device__ CudaTeam() {}
  __device__ void sync() const { __syncthreads(); }
};

}  // namespace hyfreedp::kernels
