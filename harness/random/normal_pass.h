// The inner loops of normal noise, compiled once for each instruction set; the processor's best is chosen at the
// first use. All give the same bits (box_muller.h), which tests/random checks for those that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hyfreedp::random {

struct NormalPass {
  std::string_view name;
  // z[2k], z[2k + 1] from words 2k, 2k + 1.
  void (*transform)(const std::uint64_t* words, std::size_t pairs, double* z);
  // out[i] += scale * z[i]: product and sum in double, rounded once to `out`'s type.
  void (*add_float)(const double* z, std::size_t count, double scale, float* out);
  void (*add_double)(const double* z, std::size_t count, double scale, double* out);
};

// Those that this processor can run, the fastest last; never empty.
std::span<const NormalPass> normal_passes();
// The fastest of them.
const NormalPass& normal_pass();

}  // namespace hyfreedp::random
