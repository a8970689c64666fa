// For tests that need a GPU: they skip, and say so, where there is none. ctest shows the whole
// entry as skipped. Where there is one, they compare float32 with float32, so LibTorch's default of
// TF32 in cuDNN's convolutions is switched off.
#pragma once

#include <ATen/Context.h>
#include <cstdio>
#include <gtest/gtest.h>

// A macro because a skip must return from the test itself.
#define HYFREEDP_NEED_DEVICE()                                          \
  do {                                                                  \
    if (!at::hasCUDA()) {                                               \
      std::printf("SKIPPED SUITE: this program sees no CUDA device\n"); \
      GTEST_SKIP() << "this program sees no CUDA device";               \
    }                                                                   \
    at::globalContext().setAllowTF32CuBLAS(false);                      \
    at::globalContext().setAllowTF32CuDNN(false);                       \
  } while (false)
