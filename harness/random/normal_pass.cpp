#include "harness/random/normal_pass.h"

#include "harness/base/vector_level.h"
#include "harness/random/box_muller.h"

// Three functions and a choice at run time rather than `target_clones`: the resolvers of those run
// before a sanitizer is ready.
namespace hyfreedp::random {
namespace {

[[gnu::always_inline]] inline void transform(const std::uint64_t* __restrict words, std::size_t pairs,
                                             double* __restrict z) {
  for (std::size_t k = 0; k < pairs; ++k) {
    const NormalPair pair = box_muller(words[2 * k], words[2 * k + 1]);
    z[2 * k] = pair.first;
    z[2 * k + 1] = pair.second;
  }
}

template <class Float>
[[gnu::always_inline]] inline void add(const double* __restrict z, std::size_t count, double scale,
                                       Float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<Float>(static_cast<double>(out[i]) + scale * z[i]);
  }
}

void transform_baseline(const std::uint64_t* words, std::size_t pairs, double* z) {
  transform(words, pairs, z);
}
void add_float_baseline(const double* z, std::size_t count, double scale, float* out) {
  add(z, count, scale, out);
}
void add_double_baseline(const double* z, std::size_t count, double scale, double* out) {
  add(z, count, scale, out);
}

[[gnu::target("avx2")]] void transform_avx2(const std::uint64_t* words, std::size_t pairs, double* z) {
  transform(words, pairs, z);
}
[[gnu::target("avx2")]] void add_float_avx2(const double* z, std::size_t count, double scale, float* out) {
  add(z, count, scale, out);
}
[[gnu::target("avx2")]] void add_double_avx2(const double* z, std::size_t count, double scale, double* out) {
  add(z, count, scale, out);
}

[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] void transform_avx512(
    const std::uint64_t* words, std::size_t pairs, double* z) {
  transform(words, pairs, z);
}
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] void add_float_avx512(const double* z,
                                                                                           std::size_t count,
                                                                                           double scale,
                                                                                           float* out) {
  add(z, count, scale, out);
}
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] void add_double_avx512(const double* z,
                                                                                            std::size_t count,
                                                                                            double scale,
                                                                                            double* out) {
  add(z, count, scale, out);
}

constexpr NormalPass kPasses[] = {{"baseline", transform_baseline, add_float_baseline, add_double_baseline},
                                  {"avx2", transform_avx2, add_float_avx2, add_double_avx2},
                                  {"avx512", transform_avx512, add_float_avx512, add_double_avx512}};

}  // namespace

std::span<const NormalPass> normal_passes() {
  return std::span(kPasses).first(static_cast<std::size_t>(vector_level()));
}

const NormalPass& normal_pass() { return normal_passes().back(); }

}  // namespace hyfreedp::random
