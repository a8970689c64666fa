// Marks a function to be compiled twice more, for wider vectors; the widest that the processor has
// is chosen when the program starts.
//
// The bits do not depend on the version that is chosen: AVX2 and AVX-512 compute the same IEEE
// operations in the same order, the project is compiled without fused multiply-add
// (-ffp-contract=off), and the compiler keeps the order of floating-point sums.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HYFREEDP_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HYFREEDP_WIDE
#endif
