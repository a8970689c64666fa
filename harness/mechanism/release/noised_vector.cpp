#include "harness/mechanism/release/noised_vector.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <openssl/evp.h>
#include <type_traits>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/kernels/kernels.h"

namespace hyfreedp::mechanism {
namespace {

using torch::Tensor;

constexpr std::size_t kDigestBytes = 16;

std::int64_t blocks_of(std::int64_t size) { return (size + kReleaseBlock - 1) / kReleaseBlock; }

struct Free {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

// Digest of one block; Poly1305 reads 12 GB/s where SHA-256 reads 2.
void digest_block(const void* data, std::size_t size, char* digest) {
  static EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "POLY1305", nullptr);
  HYFREEDP_CHECK(mac != nullptr, "OpenSSL has no Poly1305");
  static const random::Key key = random::key_from_seed("digest of released gradients");
  const std::unique_ptr<EVP_MAC_CTX, Free> context(EVP_MAC_CTX_new(mac));
  std::size_t length = 0;
  HYFREEDP_CHECK(context && EVP_MAC_init(context.get(), key.bytes.data(), key.bytes.size(), nullptr) == 1 &&
                     EVP_MAC_update(context.get(), static_cast<const unsigned char*>(data), size) == 1 &&
                     EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(digest), &length,
                                   kDigestBytes) == 1 &&
                     length == kDigestBytes,
                 "Poly1305 failed");
}

// Work on the blocks of [0, size), by all threads.
template <class Work>
void for_each_block(std::int64_t size, const Work& work) {
  at::parallel_for(0, blocks_of(size), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      const std::int64_t begin = block * kReleaseBlock;
      work(block, begin, std::min(size, begin + kReleaseBlock));
    }
  });
}

template <class T>
void release_block(const VectorNoise& noise, T divisor, std::int64_t begin, std::span<T> block) {
  if (noise.scale > 0) {
    random::add_normals(noise.key, noise.address, static_cast<std::uint64_t>(begin), noise.scale, block);
  }
  for (T& value : block) value /= divisor;
}

// The same noise, drawn on the device.
void release_on_device(const VectorNoise& noise, Tensor& sum) {
  kernels::release_mean(
      {.noise = {noise.key, noise.address, 0}, .scale = noise.scale, .divisor = noise.divisor, .clip = 1},
      sum);
}

// `sum` may be `out`.
template <class Sum, class T>
VectorDigest release_on_cpu(const VectorNoise& noise, Tensor& sum, Tensor& out, const PieceWork& then) {
  Sum* const sums = sum.data_ptr<Sum>();
  T* const values = out.data_ptr<T>();
  VectorDigest digest{std::string(static_cast<std::size_t>(blocks_of(sum.numel())) * kDigestBytes, 0)};
  for_each_block(sum.numel(), [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    release_block(noise, static_cast<Sum>(noise.divisor), begin,
                  std::span<Sum>(sums + begin, static_cast<std::size_t>(end - begin)));
    const std::span<T> piece(values + begin, static_cast<std::size_t>(end - begin));
    if constexpr (!std::is_same_v<Sum, T>) {
      std::transform(sums + begin, sums + end, piece.begin(),
                     [](Sum value) { return static_cast<T>(value); });
    }
    digest_block(piece.data(), piece.size_bytes(),
                 digest.bytes.data() + static_cast<std::size_t>(block) * kDigestBytes);
    if (then) then(begin, end);
  });
  return digest;
}

}  // namespace

VectorDigest release_vector(const VectorNoise& noise, Tensor& sum, Tensor& out, const PieceWork& then) {
  HYFREEDP_CHECK(noise.scale >= 0 && std::isfinite(noise.scale), "noise has a finite scale");
  HYFREEDP_CHECK(sum.is_contiguous() && out.is_contiguous() && sum.numel() == out.numel(),
                 "a sum and its release are dense vectors of one length");
  const bool in_place = out.is_same(sum);
  HYFREEDP_CHECK(in_place || sum.scalar_type() == torch::kFloat64,
                 "only a float64 sum is released into another vector");
  if (!sum.is_cpu()) {
    release_on_device(noise, sum);
    if (!in_place) out.copy_(sum);
    auto digest = digest_of(out);
    if (then) then(0, out.numel());
    return digest;
  }
  return AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "release_vector", [&] {
    return in_place ? release_on_cpu<scalar_t, scalar_t>(noise, sum, out, then)
                    : release_on_cpu<double, scalar_t>(noise, sum, out, then);
  });
}

VectorDigest digest_of(const Tensor& vector) {
  if (vector.is_cuda()) {
    const auto sums = kernels::digest(vector);
    return {std::string(reinterpret_cast<const char*>(sums.data()), sizeof sums)};
  }
  const auto values = vector.cpu().contiguous();
  const auto* bytes = static_cast<const char*>(values.data_ptr());
  const auto width = static_cast<std::int64_t>(values.element_size());
  VectorDigest digest{std::string(static_cast<std::size_t>(blocks_of(values.numel())) * kDigestBytes, 0)};
  for_each_block(values.numel(), [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    digest_block(bytes + begin * width, static_cast<std::size_t>((end - begin) * width),
                 digest.bytes.data() + static_cast<std::size_t>(block) * kDigestBytes);
  });
  return digest;
}

std::string release_hash(const VectorDigest& vector, std::span<const double> values) {
  std::string text = vector.bytes;
  text.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return sha256_hex(text).substr(0, 16);
}

}  // namespace hyfreedp::mechanism
