#include "harness/training/cuda_settings.h"

#include <ATen/Context.h>
#include <cstdlib>
#include <mutex>

namespace hyfreedp::training {

void prepare_cublas_workspace() { ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0); }

namespace {

void set_once() {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(
      false);  // finds bugs at the price of a pass over every new tensor
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setSDPUseCuDNN(false);
}

}  // namespace

void use_deterministic_kernels() {
  // An audit's runs begin on several threads, and one must not read what another has half set.
  static std::once_flag once;
  std::call_once(once, set_once);
  begin_without_tf32();
}

void begin_without_tf32() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
  });
}

}  // namespace hyfreedp::training
