#include "harness/training/gradient.h"

#include <ATen/Parallel.h>

#include "harness/training/clipping.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

// [n], filled piece by piece where the pieces are: a GPU is waited for once, at the end.
class Collector {
 public:
  Collector(std::int64_t count, torch::ScalarType dtype, torch::Device device)
      : values_(torch::empty({count}, torch::TensorOptions(device).dtype(dtype))) {}
  void add(const Tensor& piece) {
    values_.narrow(0, filled_, piece.size(0)).copy_(piece);
    filled_ += piece.size(0);
  }
  Tensor on_cpu() const { return values_.cpu(); }

 private:
  Tensor values_;
  std::int64_t filled_ = 0;
};

// One microbatch's squared norms and factors: [B], or [L, B] per layer. Without clipping: no
// factors, and norms only where they were asked for.
struct Clipped {
  Tensor squared_norms;  // as they are told
  Tensor bounds;         // as they are clipped by: what rounding may lack is added
  Tensor factors;

  Tensor total() const { return squared_norms.dim() == 2 ? squared_norms.sum(0) : squared_norms; }
  Tensor any_below_one() const {
    if (!factors.defined()) return at::zeros_like(squared_norms, torch::kBool);
    return factors.dim() == 2 ? (factors < 1).any(0) : factors < 1;
  }
};

Clipped clip(const models::Network& network, const RoundedClipping& rule, bool norms_wanted) {
  Clipped found;
  if (rule.rule == trial::ClippingRule::none) {
    if (norms_wanted) found.squared_norms = network.squared_norms();
  } else if (rule.per_layer()) {
    found.squared_norms = network.squared_norms_by_layer();
    found.bounds = network.squared_norm_bounds_by_layer();
    const auto shares = threshold_shares(rule.shares, network.trainable_layers());
    found.factors = clip_factors_by_layer(rule, shares, found.bounds);
  } else {
    found.squared_norms = network.squared_norms();
    found.bounds = network.squared_norm_bounds();
    found.factors = clip_factors(rule, found.bounds);
  }
  return found;
}

Clipped add_microbatch(models::Network& network, const RoundedClipping& rule, const Tensor& logit_gradient,
                       bool norms_wanted, Tensor& sum) {
  if (rule.rule == trial::ClippingRule::none && !norms_wanted) {
    network.backward_sum(logit_gradient, sum);
    return {};
  }
  network.backward(logit_gradient);
  auto clipped = clip(network, rule, norms_wanted);
  if (rule.rule == trial::ClippingRule::none) {
    network.take_clipped_sum({}, sum);
    return clipped;
  }
  const auto finite = at::isfinite(clipped.bounds);
  // 0 * NaN is NaN in a matrix product, so a factor of 0 is not enough.
  if (!finite.all().item<bool>()) {
    network.drop_samples((finite.dim() == 2 ? finite.all(0) : finite).logical_not());
  }
  const auto factors = clipped.factors.to(sum.scalar_type());
  network.take_clipped_sum(factors, sum);
  return clipped;
}

// Adds up microbatches in double, where there are several: in float32 each addition would round at
// the size of the whole sum, and a full batch of 50,000 unit vectors that agree strayed by 0.08
// where one vector counts 1. One microbatch costs nothing, and a sum that is double itself takes
// all microbatches as they come.
class WideTotal {
 public:
  explicit WideTotal(Tensor& sum) : sum_(sum) { sum_.zero_(); }
  void begin_microbatch() {
    if (sum_.scalar_type() == torch::kFloat64 || ++begun_ == 1) return;
    const bool has_loop = sum_.is_cpu() && sum_.is_contiguous() && sum_.scalar_type() == torch::kFloat32;
    if (total_.defined() && has_loop) {
      move_on();
    } else {
      keep();
      sum_.zero_();
    }
  }
  void finish() {
    if (!total_.defined()) return;
    keep();
    sum_.copy_(total_);
  }

 private:
  // keep() and zero_() in one pass. LibTorch widens the sum first, in pieces.
  void move_on() {
    auto* from = sum_.mutable_data_ptr<float>();
    auto* to = total_.mutable_data_ptr<double>();
    at::parallel_for(0, sum_.numel(), 1 << 16, [=](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        to[i] += static_cast<double>(from[i]);
        from[i] = 0;
      }
    });
  }
  void keep() {
    if (total_.defined()) {
      total_.add_(sum_);
    } else {
      total_ = sum_.to(torch::kFloat64);
    }
  }

  Tensor& sum_;
  Tensor total_;  // [d]; undefined within the first microbatch
  std::int64_t begun_ = 0;
};

// A sample's loss is the mean over its copies; the network adds up the gradients of the copies.
models::SampleLosses over_copies(models::SampleLosses each, std::int64_t copies) {
  if (copies == 1) return each;
  each.losses = each.losses.view({copies, -1}).mean(0);
  if (each.logit_gradient.defined()) each.logit_gradient.div_(static_cast<double>(copies));
  return each;
}

}  // namespace

Tensor clipped_gradient_sum(models::Network& network, models::Loss loss, const RoundedClipping& rule,
                            BatchReader& reader, const mechanism::Rows& rows, Tensor& sum,
                            SampleClipping* seen) {
  Collector losses(rows.count, torch::kFloat64, sum.device());
  Collector norms(seen != nullptr ? rows.count : 0, torch::kFloat64, sum.device());
  Collector below_one(seen != nullptr ? rows.count : 0, torch::kBool, sum.device());
  WideTotal total(sum);
  reader.for_each(rows, [&](const Microbatch& batch) {
    total.begin_microbatch();
    const auto logits = network.record({batch.features}, batch.copies);
    const auto result = over_copies(models::sample_losses(loss, logits, batch.labels, true), batch.copies);
    losses.add(result.losses);
    const auto clipped = add_microbatch(network, rule, result.logit_gradient, seen != nullptr, sum);
    network.forget();
    if (seen == nullptr) return;
    norms.add(clipped.total().sqrt());
    below_one.add(clipped.any_below_one());
  });
  total.finish();
  if (seen != nullptr) *seen = {norms.on_cpu(), below_one.on_cpu()};
  return losses.on_cpu();
}

Tensor losses_at_weights(const models::Network& network, models::Loss loss, BatchReader& reader,
                         const mechanism::Rows& rows) {
  Collector losses(rows.count, torch::kFloat64, network.parameters().device());
  reader.for_each(rows, [&](const Microbatch& batch) {
    const auto result = models::sample_losses(loss, network.forward(batch.features), batch.labels, false);
    losses.add(over_copies(result, batch.copies).losses);
  });
  return losses.on_cpu();
}

}  // namespace hyfreedp::training
