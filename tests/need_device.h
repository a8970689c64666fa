// For tests that need a GPU: they skip, and say so, where there is none. ctest shows the whole entry as skipped.
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
  } while (false)
