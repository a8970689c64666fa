#include "harness/kernels/device.h"

#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>
#include <limits>

#include "harness/base/result.h"
#include "harness/kernels/launch.h"
#include "harness/kernels/stream_state.h"

namespace hyfreedp::kernels::device {
namespace {

using torch::Tensor;

// The tensor's device and its current queue, and a check of what was launched on it.
class Launch {
 public:
  explicit Launch(const Tensor& values) : guard_(values.device()) {}
  Queue queue() const { return at::cuda::getCurrentCUDAStream().stream(); }
  void check() const { C10_CUDA_KERNEL_LAUNCH_CHECK(); }

 private:
  c10::cuda::CUDAGuard guard_;
};

void check_length(const StreamPart& part, const Tensor& values) {
  const auto size = static_cast<std::uint64_t>(values.numel());
  HYFREEDP_CHECK(part.first <= random::kAddressLength && size <= random::kAddressLength - part.first,
                 "a stream's address is exhausted");
}

// [rows, columns], one number for each block of a grid.
Tensor partials(const Tensor& beside, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kLargestGrid = std::numeric_limits<std::int32_t>::max();
  HYFREEDP_CHECK(columns <= kLargestGrid / rows,
                 "a batch's norms are too many blocks for one launch; take a smaller microbatch");
  return at::empty({rows, columns}, beside.options().dtype(torch::kFloat64));
}

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

// Calls work(pointer to the tensor's elements) with the kernels' own type.
template <class Work>
void with_norm_type(const Tensor& values, Work work) {
  switch (values.scalar_type()) {
    case torch::kFloat64:
      return work(values.const_data_ptr<double>());
    case torch::kBFloat16:
      return work(static_cast<const Bf16*>(values.const_data_ptr()));
    default:
      return work(values.const_data_ptr<float>());
  }
}

void add_up(const Launch& launch, const Tensor& parts, Tensor& squared_norms) {
  launch_add_partials(launch.queue(), parts.const_data_ptr<double>(), parts.size(0), parts.size(1),
                      squared_norms.data_ptr<double>());
  launch.check();
}

Noise noise_of(const PrivateMean& mean, const Tensor& sum) {
  check_length(mean.noise, sum);
  return {.stream = stream_of(mean.noise.key, mean.noise.address),
          .first = mean.noise.first,
          .clip = mean.clip,
          .scale = mean.scale,
          .divisor = mean.divisor};
}

template <class T>
Vectors<T> vectors_of(StepVectors& vectors) {
  const auto at = [](Tensor& values) { return values.defined() ? values.data_ptr<T>() : nullptr; };
  return {at(vectors.gradient), at(vectors.weights),   at(vectors.first),       at(vectors.second),
          at(vectors.largest),  at(vectors.direction), vectors.gradient.numel()};
}

}  // namespace

std::string device_name() {
  const auto* properties = at::cuda::getCurrentDeviceProperties();
  return fmt::format("{}, sm_{}{}, CUDA {}.{}", properties->name, properties->major, properties->minor,
                     CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

void add_row_norms(const Tensor& values, Tensor& squared_norms) {
  if (values.numel() == 0) return;
  const Launch launch(values);
  const auto rows = values.size(0), columns = values.numel() / rows;
  auto parts = partials(values, rows, divided_up(columns, kRowPiece));
  with_norm_type(values, [&](const auto* from) {
    launch_row_norms(launch.queue(), from, rows, columns, parts.template data_ptr<double>());
  });
  add_up(launch, parts, squared_norms);
}

void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::optional<std::int64_t> padding,
                         Tensor& squared_norms) {
  if (gradients.numel() == 0) return;
  const Launch launch(gradients);
  const auto [sorted, order] = at::sort(ids, /*stable=*/true, /*dim=*/1, /*descending=*/false);
  auto parts = partials(gradients, ids.size(0), divided_up(gradients.size(2), kThreads));
  with_norm_type(gradients, [&, &ids_sorted = sorted, &places = order]<class T>(const T* from) {
    const EmbeddingNorm<T> at{.ids = ids_sorted.template const_data_ptr<std::int64_t>(),
                              .order = places.template const_data_ptr<std::int64_t>(),
                              .gradients = from,
                              .positions = ids.size(1),
                              .width = gradients.size(2),
                              .padding = padding.value_or(-1),
                              .partials = parts.data_ptr<double>()};
    launch_embedding_norm(launch.queue(), ids.size(0), at);
  });
  add_up(launch, parts, squared_norms);
}

void release_mean(const PrivateMean& mean, Tensor& sum) {
  const Launch launch(sum);
  AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "release_mean", [&] {
    launch_release(launch.queue(), noise_of(mean, sum), sum.data_ptr<scalar_t>(), sum.numel());
  });
  launch.check();
}

void adam_step(const AdamNumbers& with, StepVectors& vectors) {
  const Launch launch(vectors.gradient);
  AT_DISPATCH_FLOATING_TYPES(vectors.gradient.scalar_type(), "adam_step",
                             [&] { launch_adam(launch.queue(), with, vectors_of<scalar_t>(vectors)); });
  launch.check();
}

void sgd_step(const SgdNumbers& with, StepVectors& vectors) {
  const Launch launch(vectors.gradient);
  AT_DISPATCH_FLOATING_TYPES(vectors.gradient.scalar_type(), "sgd_step",
                             [&] { launch_sgd(launch.queue(), with, vectors_of<scalar_t>(vectors)); });
  launch.check();
}

bool subtract_scaled(const Tensor& weights, const Tensor& direction, double x, Tensor& out) {
  const Launch launch(weights);
  auto bad = at::empty({kGridBlocks}, weights.options().dtype(torch::kInt64));
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "subtract_scaled", [&] {
    launch_subtract(launch.queue(), weights.const_data_ptr<scalar_t>(), direction.const_data_ptr<scalar_t>(),
                    x, weights.numel(), out.data_ptr<scalar_t>(),
                    reinterpret_cast<std::uint64_t*>(bad.data_ptr<std::int64_t>()));
  });
  launch.check();
  return bad.sum().item<std::int64_t>() == 0;
}

std::array<std::uint64_t, 2> digest(const Tensor& values) {
  const Launch launch(values);
  auto parts = at::empty({kGridBlocks, 2}, values.options().dtype(torch::kInt64));
  launch_digest(launch.queue(), static_cast<const std::uint32_t*>(values.const_data_ptr()),
                static_cast<std::int64_t>(values.nbytes() / 4),
                reinterpret_cast<std::uint64_t*>(parts.data_ptr<std::int64_t>()));
  launch.check();
  const auto sums = parts.sum(0).cpu();  // integers modulo 2^64: any order
  return {static_cast<std::uint64_t>(sums[0].item<std::int64_t>()),
          static_cast<std::uint64_t>(sums[1].item<std::int64_t>())};
}

}  // namespace hyfreedp::kernels::device
