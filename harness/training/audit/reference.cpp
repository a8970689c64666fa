#include "harness/training/audit/reference.h"

#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

#include "datasets/facts.h"
#include "harness/models/networks/mlp.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

// Numbers in one piece of per-record gradients: 32 MB.
constexpr std::int64_t kPiece = 4'000'000;

Tensor index_of(const std::vector<std::int64_t>& rows) { return torch::tensor(rows, torch::kInt64); }

std::int64_t classes_of(const trial::TrialConfig& config) {
  return datasets::sizes(*datasets::find_dataset(config.dataset.name).value(), config.dataset.options)
      .classes;
}

// The part of the sensitivity that clipping leaves to rounding (harness/training/clipping.h): of
// one sample, and of the batch's sum.
double rounding_of(const trial::TrialConfig& config) {
  const bool wide = config.dtype == "float64";
  return (wide ? std::exp2(-46) : std::exp2(-17)) +
         config.privacy.rounding_of_sums(wide || config.privacy.has_wide_sums());
}

}  // namespace

Reference::Reference(const trial::TrialConfig& config, const datasets::SplitData& split)
    : features_(split.values(0, split.features.size(0), torch::kFloat64)),
      labels_(split.labels),
      widths_{split.features.size(1)},
      plan_(config.privacy),
      kept_(1 - rounding_of(config)) {
  HYFREEDP_CHECK(plan_.clipping.rule != trial::ClippingRule::none &&
                     plan_.clipping.rule != trial::ClippingRule::adaptive,
                 "an audit needs clipping to one threshold");
  const auto options = read_options<models::MlpOptions>(config.model.options);
  relu_ = options.activation == models::MlpActivation::relu;
  widths_.insert(widths_.end(), options.hidden.begin(), options.hidden.end());
  widths_.push_back(classes_of(config));
  for (std::size_t k = 0; k + 1 < widths_.size(); ++k) dimension_ += (widths_[k] + 1) * widths_[k + 1];
}

Tensor Reference::features_of(const std::vector<std::int64_t>& rows) const {
  return features_.index_select(0, index_of(rows));
}

Tensor Reference::labels_of(const std::vector<std::int64_t>& rows) const {
  return labels_.index_select(0, index_of(rows));
}

Tensor Reference::between_layers(const Tensor& values) const {
  return relu_ ? at::relu(values) : at::tanh(values);
}

Tensor Reference::losses_of_copies(const Tensor& weights, const Tensor& features,
                                   const Tensor& labels) const {
  const auto n = features.size(0);
  Tensor values = features.unsqueeze(2);  // [n, in, 1]
  std::int64_t offset = 0;
  for (std::size_t k = 0; k + 1 < widths_.size(); ++k) {
    const auto in = widths_[k];
    const auto out = widths_[k + 1];
    const auto matrix = weights.narrow(1, offset, in * out).reshape({n, out, in});
    const auto bias = weights.narrow(1, offset + in * out, out).unsqueeze(2);
    if (k > 0) values = between_layers(values);
    values = at::bmm(matrix, values) + bias;
    offset += (in + 1) * out;
  }
  const auto logits = values.squeeze(2);
  return at::logsumexp(logits, {1}) - logits.gather(1, labels.unsqueeze(1)).squeeze(1);
}

Tensor Reference::factors_of(const Tensor& part, double share) const {
  const auto norms = part.square().sum(1, true).sqrt();
  switch (plan_.clipping.rule) {
    case trial::ClippingRule::auto_s:
      return at::minimum(share / (norms + plan_.clipping.constant), share * kept_ / norms);
    case trial::ClippingRule::auto_v:
      return at::where(norms > 1e-12, share * kept_ / norms, share * kept_ * 1e12);
    default:
      return (share * kept_ * plan_.clipping.constant / norms).clamp_max(1);
  }
}

Tensor Reference::clip(const Tensor& gradients) const {
  std::vector<Tensor> parts;
  if (plan_.clipping.groups == trial::ClippingGroups::all) {
    parts.push_back(gradients * factors_of(gradients, 1));
  } else {
    const auto layers = static_cast<double>(widths_.size() - 1);
    std::int64_t offset = 0;
    for (std::size_t k = 0; k + 1 < widths_.size(); ++k) {
      const auto size = (widths_[k] + 1) * widths_[k + 1];
      const double weight = plan_.clipping.shares == trial::GroupShares::size
                                ? static_cast<double>(size) / static_cast<double>(dimension_)
                                : 1 / layers;
      const auto part = gradients.narrow(1, offset, size);
      parts.push_back(part * factors_of(part, std::sqrt(weight)));
      offset += size;
    }
  }
  const auto finite = at::isfinite(gradients.square().sum(1, true));
  return at::cat(parts, 1).masked_fill(finite.logical_not(), 0);
}

Tensor Reference::clipped_gradients(const Tensor& weights, const std::vector<std::int64_t>& rows) const {
  if (rows.empty()) return torch::zeros({0, dimension_}, torch::kFloat64);
  const c10::AutoGradMode with_gradients(true);
  const auto n = static_cast<std::int64_t>(rows.size());
  const auto copies = weights.detach().to(torch::kFloat64).unsqueeze(0).repeat({n, 1}).requires_grad_(true);
  const auto losses = losses_of_copies(copies, features_of(rows), labels_of(rows));
  const auto gradients = torch::autograd::grad({losses.sum()}, {copies});
  return clip(gradients.front().detach());
}

Tensor Reference::clipped_sum(const Tensor& weights, const std::vector<std::int64_t>& rows) const {
  const auto piece = std::max<std::ptrdiff_t>(1, kPiece / dimension_);
  auto sum = torch::zeros({dimension_}, torch::kFloat64);
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = begin + std::min(piece, rows.end() - begin);
    sum.add_(clipped_gradients(weights, {begin, end}).sum(0));
    begin = end;
  }
  return sum;
}

Tensor Reference::losses(const Tensor& weights, const std::vector<std::int64_t>& rows) const {
  const c10::AutoGradMode without_gradients(false);
  Tensor values = features_of(rows);  // [n, in]
  const auto flat = weights.detach().to(torch::kFloat64);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k + 1 < widths_.size(); ++k) {
    const auto in = widths_[k];
    const auto out = widths_[k + 1];
    if (k > 0) values = between_layers(values);
    values = at::mm(values, flat.narrow(0, offset, in * out).view({out, in}).t()) +
             flat.narrow(0, offset + in * out, out);
    offset += (in + 1) * out;
  }
  return at::logsumexp(values, {1}) - values.gather(1, labels_of(rows).unsqueeze(1)).squeeze(1);
}

Tensor Reference::clamped(const Tensor& losses, double bound) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return at::where(at::isnan(losses), 0.0,
                   at::nan_to_num(losses, 0.0, kInfinity, -kInfinity).clamp(0.0, bound));
}

Tensor Reference::clamped_change(const Tensor& after, const Tensor& before, double bound) {
  const auto change = after - before;
  return at::where(at::isnan(change), 0.0, change.clamp(-bound, bound));
}

}  // namespace hyfreedp::training
