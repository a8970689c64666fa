#include "harness/models/layers/standardised_conv2d.h"

#include <algorithm>

#include "harness/base/result.h"
#include "harness/models/layers/samples.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

constexpr double kFilterEps = 1e-4;

struct Standardisation {
  Tensor centred;  // v [out, n]
  Tensor scale;    // s [out, 1]
};

Standardisation standardisation(const Tensor& weight) {
  const auto rows = weight.flatten(1);
  const auto centred = rows - rows.mean(1, true);
  return {centred, (centred.square().sum(1, true) + kFilterEps).rsqrt_()};
}

// Gradient of W [..., out, n] from that of the standardised weights.
Tensor through(const Standardisation& at, const Tensor& gradient) {
  const auto along = (at.centred * gradient).sum(-1, true) * at.scale.pow(3);
  return (gradient - gradient.mean(-1, true)) * at.scale - along * at.centred;
}

Standardisation in_type(const Standardisation& at, torch::ScalarType type) {
  return {at.centred.to(type), at.scale.to(type)};
}

ActivationRecord some_samples(const ActivationRecord& record, std::int64_t first, std::int64_t count) {
  return {.inputs = {record.input().narrow(0, first, count)},
          .output = {},
          .saved = {},
          .output_gradient = record.output_gradient.narrow(0, first, count)};
}

// Numbers of the gradients that are projected at a time: what caches hold, and on a GPU what few
// launches fill.
constexpr std::int64_t kMostAtOnce = 1 << 20;
constexpr std::int64_t kMostOnDevice = 1 << 27;

}  // namespace

StandardisedConv2d::StandardisedConv2d(const Conv2dShape& shape) : convolution_(shape) {
  HYFREEDP_CHECK(!shape.with_bias, "a weight-standardised convolution has no bias");
}

void StandardisedConv2d::bind(std::vector<BoundParameter> parameters) {
  weight_ = std::move(parameters.at(0));
  standardised_ = torch::empty_like(weight_.value);
  convolution_.bind({{standardised_, weight_.trainable}});
}

void StandardisedConv2d::standardise() const {
  const auto at = standardisation(weight_.value);
  standardised_.copy_((at.centred * at.scale).view_as(standardised_));
}

Tensor StandardisedConv2d::forward(const Tensor& input) const {
  standardise();
  return convolution_.forward(input);
}

Tensor StandardisedConv2d::input_gradient(const ActivationRecord& record) const {
  standardise();  // other weights may have been looked at since the recorded pass
  return convolution_.input_gradient(record);
}

Tensors StandardisedConv2d::add_squared_norms(std::span<const ActivationRecord> records,
                                              SquaredNorms& squared_norms) const {
  if (!weight_.trainable) return {};
  const auto type = records.front().output_gradient.scalar_type();
  const auto at = in_type(standardisation(weight_.value), type);
  const auto samples = records.front().output_gradient.size(0);
  // The factor by which the standardisation can increase a squared error.
  const auto largest = at.scale.max().to(torch::kFloat64).square();
  const auto most = weight_.value.is_cpu() ? kMostAtOnce : kMostOnDevice;
  const auto chunk = std::max<std::int64_t>(1, most / weight_.value.numel());
  for (std::int64_t first = 0; first < samples; first += chunk) {
    const auto count = std::min(chunk, samples - first);
    std::vector<ActivationRecord> some;
    for (const auto& record : records) some.push_back(some_samples(record, first, count));
    const auto gradients = through(at, convolution_.sample_gradients(some));
    const auto reaches = convolution_.gradient_reaches(some) * largest;
    SquaredNorms part{squared_norms.estimates.narrow(0, first, count),
                      squared_norms.slack.narrow(0, first, count)};
    add_beyond_forming(squared_sample_norms(gradients), reaches, type, part);
  }
  return {};
}

void StandardisedConv2d::add_clipped_sums(std::span<const ActivationRecord> records, const Tensors&,
                                          const Tensor& factors, std::span<Tensor> sums) const {
  if (!weight_.trainable) return;
  auto sum = torch::zeros_like(sums[0]);
  convolution_.add_clipped_sums(records, {}, factors, {&sum, 1});
  const auto at = in_type(standardisation(weight_.value), sum.scalar_type());
  sums[0].add_(through(at, sum.flatten(1)).view_as(sums[0]));
}

}  // namespace hyfreedp::models
