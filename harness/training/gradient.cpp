#include "harness/training/gradient.h"

#include "harness/training/clipping.h"
#include "harness/trial/test_seam.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

// [n] float64 on the CPU, filled piece by piece.
class LossCollector {
 public:
  explicit LossCollector(std::int64_t count) : losses_(torch::empty({count}, torch::kFloat64)) {}
  void add(const Tensor& losses) {
    losses_.narrow(0, filled_, losses.size(0)).copy_(losses);
    filled_ += losses.size(0);
  }
  Tensor take() { return losses_; }

 private:
  Tensor losses_;
  std::int64_t filled_ = 0;
};

void add_microbatch(models::Network& network, const ClippingRule& rule, const Tensor& logit_gradient,
                    Tensor& sum) {
  network.backward(logit_gradient);
  if (rule.clipping == trial::Clipping::none) {
    network.add_clipped_sum({}, sum);
    return;
  }
  const auto squared_norms = network.squared_norms();
  const auto factors = clip_factors(rule.clipping, rule.constant, squared_norms);
  const auto finite = at::isfinite(squared_norms);
  // 0 * NaN is NaN in a matrix product, so a factor of 0 is not enough.
  if (!finite.all().item<bool>()) network.drop_samples(finite.logical_not());
  network.add_clipped_sum(factors.to(sum.scalar_type()), sum);
  if (planted(Bug::unclipped_layer)) {
    auto taken = torch::zeros_like(sum);
    network.add_clipped_sum((1 - factors).to(sum.scalar_type()), taken);
    const auto& last = network.layout().back();
    sum.narrow(0, last.offset, last.size).add_(taken.narrow(0, last.offset, last.size));
  }
}

}  // namespace

Tensor clipped_gradient_sum(models::Network& network, models::Loss loss, const ClippingRule& rule,
                            BatchReader& reader, const Rows& rows, Tensor& sum) {
  LossCollector losses(rows.count);
  sum.zero_();
  reader.for_each(rows, [&](const Microbatch& batch) {
    const auto logits = network.record(batch.features);
    const auto result = models::sample_losses(loss, logits, batch.labels, true);
    losses.add(result.losses);
    add_microbatch(network, rule, result.logit_gradient, sum);
  });
  return losses.take();
}

Tensor losses_at_weights(const models::Network& network, models::Loss loss, BatchReader& reader,
                         const Rows& rows) {
  LossCollector losses(rows.count);
  reader.for_each(rows, [&](const Microbatch& batch) {
    losses.add(models::sample_losses(loss, network.forward(batch.features), batch.labels, false).losses);
  });
  return losses.take();
}

}  // namespace hyfreedp::training
