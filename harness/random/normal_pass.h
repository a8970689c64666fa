// The inner loops of normal noise, compiled once for each instruction set. The fastest one that the
// processor supports is chosen at the first call. All give the same bits (box_muller.h);
// tests/random checks those that the processor supports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hyfreedp::random {

struct NormalPass {
  std::string_view name;
  // Writes the normals z[2k] and z[2k + 1] of the words 2k and 2k + 1.
  void (*transform)(const std::uint64_t* words, std::size_t pairs, double* z);
  // out[i] += scale * z[i]: product and sum in double, rounded once to `out`'s type.
  void (*add_float)(const double* z, std::size_t count, double scale, float* out);
  void (*add_double)(const double* z, std::size_t count, double scale, double* out);
};

// The passes that this processor can run, the fastest last. Never empty.
std::span<const NormalPass> normal_passes();
// The fastest of them.
const NormalPass& normal_pass();

}  // namespace hyfreedp::random
