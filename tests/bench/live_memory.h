// Counts the bytes that LibTorch's CPU allocator has handed out and not got back: exact, unlike a
// process's resident size, which keeps what earlier cases touched. Scratch memory inside BLAS and
// oneDNN is not LibTorch's and is not counted.
#pragma once

#include <cstdint>

namespace hyfreedp::bench {

// Once, before the first tensor.
void count_live_memory();
std::int64_t live_bytes();
// The most that was live since the last call of reset_peak().
std::int64_t peak_bytes();
void reset_peak();

}  // namespace hyfreedp::bench
