#include "harness/training/release.h"

#include <cmath>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/training/sampler.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

void add_noise(const random::Key& key, const random::Address& address, double scale, Tensor& values) {
  if (!values.is_cpu()) {
    auto noise = torch::zeros({values.numel()}, torch::kFloat64);
    add_noise(key, address, scale, noise);
    values.add_(noise.to(values.device()));
    return;
  }
  const auto size = static_cast<std::size_t>(values.numel());
  if (values.scalar_type() == torch::kFloat32) {
    random::add_normals(key, address, 0, scale, std::span(values.data_ptr<float>(), size));
  } else {
    random::add_normals(key, address, 0, scale, std::span(values.data_ptr<double>(), size));
  }
}

}  // namespace

void release_gradient(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                      std::int64_t attempt, Tensor& sum) {
  if (plan.is_private) {
    double scale = plan.gradient_noise * plan.sensitivity();
    HYFREEDP_CHECK(scale > 0 && std::isfinite(scale), "a private gradient is released with noise");
    if (planted(Bug::noise_two_thirds)) scale *= 2.0 / 3.0;
    const auto noise_step = planted(Bug::noise_reused) ? step / 2 * 2 : step;
    add_noise(key, address_of(random::Purpose::gradient_noise, noise_step, attempt), scale, sum);
  }
  sum.div_(plan.batch_size);
}

std::string release_hash(const Tensor& gradient, std::span<const double> losses) {
  const auto values = gradient.cpu().contiguous();
  std::string text = sha256_hex({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  text.append(reinterpret_cast<const char*>(losses.data()), losses.size_bytes());
  return sha256_hex(text).substr(0, 16);
}

}  // namespace hyfreedp::training
