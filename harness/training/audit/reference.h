// Per-sample gradients and losses computed a second time, in float64, to compare releases with. The
// code shares nothing with the training path but the order of the weights.
//
// Each record gets its own copy of the weights, and autograd differentiates the sum of the losses.
// The results are the gradients of single records; norms and clipping are plain sums over rows.
// Simplicity matters here more than speed.
//
//   gradient  g min(1 / (||g|| + constant), (1 - r) / ||g||) for AUTO-S, g (1 - r) / ||g|| for
//             AUTO-V, g min(1, C (1 - r) / ||g||) for Abadi, where r is the part of the sensitivity
//             that is reserved for rounding (harness/trial/sum_rounding.h); 0 for a record whose
//             gradient is not finite. Per layer: the same for each layer's part, with its share w
//             (uniform 1 / sqrt(L), by size sqrt(d_l / d)) of 1 or of C
//   loss      cross-entropy at the given weights, clamped to [0, R]: NaN is 0, an infinity R
//   change    of a loss between two weights, clamped to [-C, C]: NaN is 0
//
// Models: `linear` (weight [classes, features], bias) and `mlp` (such layers with tanh or relu
// between them).
#pragma once

#include <torch/types.h>
#include <vector>

#include "datasets/dataset.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

class Reference {
 public:
  // `config` has one of the models above and a plan with clipping AUTO-S, AUTO-V or Abadi.
  Reference(const trial::TrialConfig& config, const datasets::SplitData& split);

  std::int64_t dimension() const { return dimension_; }
  // [n, d] float64: clipped gradients of the records `rows` at `weights` [d].
  torch::Tensor clipped_gradients(const torch::Tensor& weights, const std::vector<std::int64_t>& rows) const;
  // [d] float64: their sum, with little memory for any number of records.
  torch::Tensor clipped_sum(const torch::Tensor& weights, const std::vector<std::int64_t>& rows) const;
  // [n] float64, unclamped.
  torch::Tensor losses(const torch::Tensor& weights, const std::vector<std::int64_t>& rows) const;
  // [n] float64 in [0, bound].
  static torch::Tensor clamped(const torch::Tensor& losses, double bound);
  // [n] float64 in [-bound, bound]: after - before, 0 where that is NaN.
  static torch::Tensor clamped_change(const torch::Tensor& after, const torch::Tensor& before, double bound);

 private:
  torch::Tensor features_of(const std::vector<std::int64_t>& rows) const;  // [n, p] float64
  torch::Tensor labels_of(const std::vector<std::int64_t>& rows) const;    // [n]
  // `weights` [n, d], one copy a record.
  torch::Tensor losses_of_copies(const torch::Tensor& weights, const torch::Tensor& features,
                                 const torch::Tensor& labels) const;
  torch::Tensor between_layers(const torch::Tensor& values) const;
  torch::Tensor clip(const torch::Tensor& gradients) const;
  // The factors of one group's part [n, d_l] with share w: [n, 1].
  torch::Tensor factors_of(const torch::Tensor& part, double share) const;

  torch::Tensor features_;            // [N, p] float64
  torch::Tensor labels_;              // [N]
  std::vector<std::int64_t> widths_;  // features, hidden layers, classes
  bool relu_ = false;
  std::int64_t dimension_ = 0;
  trial::PrivacyPlan plan_;
  double kept_ = 1;  // 1 - r
};

}  // namespace hyfreedp::training
