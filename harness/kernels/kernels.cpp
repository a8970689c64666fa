#include "harness/kernels/kernels.h"

#include <cmath>

#include "harness/base/result.h"
#include "harness/kernels/cpu_reference.h"
#include "harness/kernels/device.h"

namespace hyfreedp::kernels {
namespace {

using torch::Tensor;

#ifdef HYFREEDP_WITH_CUDA
constexpr bool kWithCuda = true;
#else
constexpr bool kWithCuda = false;
#endif

bool is_floating(const Tensor& values) {
  const auto type = values.scalar_type();
  return type == torch::kFloat32 || type == torch::kFloat64;
}

bool is_norm_input(const Tensor& values) {
  return is_floating(values) || values.scalar_type() == torch::kBFloat16;
}

void check_contiguous(const Tensor& values) {
  HYFREEDP_CHECK(values.is_contiguous(), "a kernel takes contiguous tensors");
}

void check_norms(const Tensor& values, const Tensor& squared_norms) {
  check_contiguous(values);
  check_contiguous(squared_norms);
  HYFREEDP_CHECK(is_norm_input(values) && squared_norms.scalar_type() == torch::kFloat64 &&
                     squared_norms.numel() == values.size(0) && squared_norms.device() == values.device(),
                 "squared norms are one float64 number a sample, beside the samples");
}

void check_mean(const PrivateMean& mean, const Tensor& sum) {
  check_contiguous(sum);
  HYFREEDP_CHECK(is_floating(sum), "a private mean is float32 or float64");
  HYFREEDP_CHECK(mean.scale >= 0 && std::isfinite(mean.scale) && mean.divisor > 0 && mean.clip >= 0,
                 "a private mean has a finite noise and a divisor above 0");
}

void check_vectors(const StepVectors& vectors, bool adam) {
  HYFREEDP_CHECK(is_floating(vectors.gradient), "a step is float32 or float64");
  check_contiguous(vectors.gradient);
  HYFREEDP_CHECK(vectors.weights.defined() && vectors.direction.defined() &&
                     (!adam || (vectors.first.defined() && vectors.second.defined())),
                 "a step needs its weights, moments and direction");
  for (const auto* one :
       {&vectors.weights, &vectors.first, &vectors.second, &vectors.largest, &vectors.direction}) {
    if (!one->defined()) continue;
    check_contiguous(*one);
    HYFREEDP_CHECK(one->numel() == vectors.gradient.numel() && one->device() == vectors.gradient.device() &&
                       one->scalar_type() == vectors.gradient.scalar_type(),
                   "the vectors of a step are of one length, type and device");
  }
}

bool on_device(const Tensor& values) {
  HYFREEDP_CHECK(kWithCuda || !values.is_cuda(),
                 "a tensor is on a GPU but this program was built without CUDA");
  return values.is_cuda();
}

}  // namespace

bool built_with_cuda() { return kWithCuda; }

std::string device_name() {
  if constexpr (kWithCuda) return device::device_name();
  HYFREEDP_CHECK(false, "a program without CUDA has no GPU to name");
  return {};
}

// What a build without CUDA does not link is left out by `if constexpr`.

void add_row_norms(const Tensor& values, Tensor& squared_norms) {
  check_norms(values, squared_norms);
  if (on_device(values)) {
    if constexpr (kWithCuda) return device::add_row_norms(values, squared_norms);
  }
  return cpu_reference::add_row_norms(values, squared_norms);
}

void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::optional<std::int64_t> padding,
                         Tensor& squared_norms) {
  check_norms(gradients, squared_norms);
  check_contiguous(ids);
  HYFREEDP_CHECK(ids.scalar_type() == torch::kInt64 && ids.dim() == 2 && gradients.dim() == 3 &&
                     ids.size(0) == gradients.size(0) && ids.size(1) == gradients.size(1) &&
                     ids.device() == gradients.device(),
                 "an embedding norm takes ids [B, T] and gradients [B, T, D]");
  if (on_device(gradients)) {
    if constexpr (kWithCuda) return device::add_embedding_norms(ids, gradients, padding, squared_norms);
  }
  return cpu_reference::add_embedding_norms(ids, gradients, padding, squared_norms);
}

void release_mean(const PrivateMean& mean, Tensor& sum) {
  check_mean(mean, sum);
  if (on_device(sum)) {
    if constexpr (kWithCuda) return device::release_mean(mean, sum);
  }
  return cpu_reference::release_mean(mean, sum);
}

void adam_step(const AdamNumbers& with, StepVectors& vectors) {
  check_vectors(vectors, true);
  if (on_device(vectors.gradient)) {
    if constexpr (kWithCuda) return device::adam_step(with, vectors);
  }
  return cpu_reference::adam_step(with, vectors);
}

void sgd_step(const SgdNumbers& with, StepVectors& vectors) {
  check_vectors(vectors, false);
  if (on_device(vectors.gradient)) {
    if constexpr (kWithCuda) return device::sgd_step(with, vectors);
  }
  return cpu_reference::sgd_step(with, vectors);
}

bool subtract_scaled(const Tensor& weights, const Tensor& direction, double x, Tensor& out) {
  check_contiguous(direction);
  check_contiguous(weights);
  check_contiguous(out);
  HYFREEDP_CHECK(is_floating(weights) && direction.numel() == weights.numel() &&
                     out.numel() == weights.numel() && direction.scalar_type() == weights.scalar_type() &&
                     out.scalar_type() == weights.scalar_type(),
                 "weights and direction are dense vectors of one type and size");
  if (on_device(weights)) {
    if constexpr (kWithCuda) return device::subtract_scaled(weights, direction, x, out);
  }
  return cpu_reference::subtract_scaled(weights, direction, x, out);
}

std::array<std::uint64_t, 2> digest(const Tensor& values) {
  check_contiguous(values);
  HYFREEDP_CHECK(values.nbytes() % 4 == 0, "a digest takes whole 32-bit words");
  if (on_device(values)) {
    if constexpr (kWithCuda) return device::digest(values);
  }
  return cpu_reference::digest(values);
}

}  // namespace hyfreedp::kernels
