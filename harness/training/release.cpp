#include "harness/training/release.h"

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
#include "harness/training/sampler.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {
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

struct Noise {
  random::Key key;
  random::Address address;
  double scale = 0;  // 0: none
};

Noise noise_of(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
               std::int64_t attempt) {
  if (!plan.is_private) return {};
  double scale = plan.gradient_noise * plan.sensitivity();
  HYFREEDP_CHECK(scale > 0 && std::isfinite(scale), "a private gradient is released with noise");
  if (planted(Bug::noise_two_thirds)) scale *= 2.0 / 3.0;
  if (planted(Bug::noise_tenth_more)) scale *= 1.1;
  const auto noise_step = planted(Bug::noise_reused) ? step / 2 * 2 : step;
  return {key, address_of(random::Purpose::gradient_noise, noise_step, attempt), scale};
}

template <class T>
void release_block(const Noise& noise, T divisor, std::int64_t begin, std::span<T> block) {
  if (noise.scale > 0) {
    random::add_normals(noise.key, noise.address, static_cast<std::uint64_t>(begin), noise.scale, block);
  }
  for (T& value : block) value /= divisor;
}

GradientDigest digest_of(const Tensor& gradient) {
  if (gradient.is_cuda()) {
    const auto sums = kernels::digest(gradient);
    return {std::string(reinterpret_cast<const char*>(sums.data()), sizeof sums)};
  }
  const auto values = gradient.cpu().contiguous();
  const auto* bytes = static_cast<const char*>(values.data_ptr());
  const auto width = static_cast<std::int64_t>(values.element_size());
  GradientDigest digest{std::string(static_cast<std::size_t>(blocks_of(values.numel())) * kDigestBytes, 0)};
  for_each_block(values.numel(), [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    digest_block(bytes + begin * width, static_cast<std::size_t>((end - begin) * width),
                 digest.bytes.data() + static_cast<std::size_t>(block) * kDigestBytes);
  });
  return digest;
}

// The same noise, drawn on the device.
GradientDigest release_on_device(const Noise& noise, double divisor, Tensor& sum) {
  kernels::release_mean(
      {.noise = {noise.key, noise.address, 0}, .scale = noise.scale, .divisor = divisor, .clip = 1}, sum);
  return digest_of(sum);
}

// `sum` may be `gradient`.
template <class Sum, class T>
GradientDigest release_dense(const Noise& noise, double divisor, Tensor& sum, Tensor& gradient,
                             const optimizers::PieceWork& then) {
  Sum* const sums = sum.data_ptr<Sum>();
  T* const values = gradient.data_ptr<T>();
  GradientDigest digest{std::string(static_cast<std::size_t>(blocks_of(sum.numel())) * kDigestBytes, 0)};
  for_each_block(sum.numel(), [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    release_block(noise, static_cast<Sum>(divisor), begin,
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

GradientDigest release_gradient(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, Tensor& sum, const optimizers::PieceWork& then) {
  const auto noise = noise_of(plan, key, step, attempt);
  if (!sum.is_cpu()) {
    auto digest = release_on_device(noise, plan.batch_size, sum);
    if (then) then(0, sum.numel());
    return digest;
  }
  HYFREEDP_CHECK(sum.is_contiguous(), "a sum of gradients is one dense vector");
  return AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "release_gradient", [&] {
    return release_dense<scalar_t, scalar_t>(noise, plan.batch_size, sum, sum, then);
  });
}

GradientDigest release_wide_sum(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                std::int64_t attempt, Tensor& wide_sum, Tensor& gradient,
                                const optimizers::PieceWork& then) {
  HYFREEDP_CHECK(wide_sum.scalar_type() == torch::kFloat64 && wide_sum.is_contiguous() &&
                     gradient.is_contiguous() && wide_sum.numel() == gradient.numel(),
                 "a wide sum is one dense float64 vector, as long as the gradient");
  const auto noise = noise_of(plan, key, step, attempt);
  if (!gradient.is_cpu()) {
    release_on_device(noise, plan.batch_size, wide_sum);
    gradient.copy_(wide_sum);
    auto digest = digest_of(gradient);
    if (then) then(0, gradient.numel());
    return digest;
  }
  return AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "release_wide_sum", [&] {
    return release_dense<double, scalar_t>(noise, plan.batch_size, wide_sum, gradient, then);
  });
}

std::string release_hash(const GradientDigest& gradient, std::span<const double> losses) {
  std::string text = gradient.bytes;
  text.append(reinterpret_cast<const char*>(losses.data()), losses.size_bytes());
  return sha256_hex(text).substr(0, 16);
}

std::string release_hash(const Tensor& gradient, std::span<const double> losses) {
  return release_hash(digest_of(gradient), losses);
}

}  // namespace hyfreedp::training
