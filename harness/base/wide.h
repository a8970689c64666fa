// Marks a function to be compiled a second time for wider vectors, chosen when the program starts.
//
// The bits do not depend on the version that is chosen: AVX2 computes the same IEEE operations in
// the same order, the version has no fused multiply-add, and the compiler keeps the order of
// floating-point sums.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HYFREEDP_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define HYFREEDP_WIDE
#endif
