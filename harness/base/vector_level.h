// Tells which of three versions of a loop this processor can run: 1 the baseline, 2 AVX2 with fused
// multiply-add, 3 AVX-512 (F, DQ, VL) as well.
#pragma once

namespace hyfreedp {

inline int vector_level() {
  static const int level = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return wide ? 3 : 2;
  }();
  return level;
}

}  // namespace hyfreedp
