// How kernels are written here: as function templates over a "team", which is one thread's place in
// a grid.
//
// The same text is compiled by nvcc for the device (cuda_team.h) and by the C++ compiler for the
// emulated device of tests/kernels, which runs every thread of a small grid on the CPU. So the
// index arithmetic, the barriers and the results of every kernel are tested where there is no GPU.
//
// A team has: thread, threads (a power of two), block, blocks, and sync(), the barrier of one
// block.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HYFREEDP_DEVICE __device__ __forceinline__
#else
#define HYFREEDP_DEVICE inline
#endif

namespace hyfreedp::kernels {

inline constexpr unsigned kThreads = 256;  // of every block

// A bfloat16 as stored in memory.
struct Bf16 {
  std::uint16_t bits;
};

HYFREEDP_DEVICE double widened(double value) { return value; }
HYFREEDP_DEVICE float widened(float value) { return value; }
HYFREEDP_DEVICE float widened(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float wide;
  __builtin_memcpy(&wide, &bits, sizeof wide);
  return wide;
}

// The sum of the values of all threads, in an order that depends on the number of threads alone.
// `shared` is [threads]. Every thread must call it, and each gets the sum.
template <class Team, class T>
HYFREEDP_DEVICE T block_sum(const Team& team, T value, T* shared) {
  team.sync();
  shared[team.thread] = value;
  team.sync();
  for (unsigned half = team.threads / 2; half > 0; half /= 2) {
    if (team.thread < half) shared[team.thread] += shared[team.thread + half];
    team.sync();
  }
  return shared[0];
}

// sums[i] += partials[i, 0] + partials[i, 1] + ..., in this order; each thread computes one row.
template <class Team>
HYFREEDP_DEVICE void add_partials_body(const Team& team, const double* partials, std::int64_t rows,
                                       std::int64_t columns, double* sums) {
  const auto row = static_cast<std::int64_t>(team.block) * team.threads + team.thread;
  if (row >= rows) return;
  double total = 0;
  for (std::int64_t column = 0; column < columns; ++column) total += partials[row * columns + column];
  sums[row] += total;
}

}  // namespace hyfreedp::kernels
