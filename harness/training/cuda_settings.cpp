#include "harness/training/cuda_settings.h"

#include <ATen/Context.h>
#include <cstdlib>

namespace hyfreedp::training {

void prepare_cublas_workspace() { ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0); }

void use_deterministic_kernels() {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(
      false);  // finds bugs at the price of a pass over every new tensor
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setSDPUseCuDNN(false);
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
}

}  // namespace hyfreedp::training
