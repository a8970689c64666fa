// An average of the weights that training goes through, at which the model is evaluated (trial::TrainingOptions).
//   ema   a += (1 - d_t) (w - a), d_t = min(decay, (1 + t) / (10 + t)), t = 0 at the first weights averaged
//         (De et al., arXiv:2204.13650, section 3: the warm-up keeps the initial weights from staying in the average)
//   swa   a += (w - a) / (t + 1): the mean (Izmailov et al., arXiv:1803.05407)
// A function of released values only, so it costs no privacy. An optimizer that has an average of its own keeps it; asking
// for both is refused at setup. The average is in the weights' type: at decay 0.9999 a float32 update moves the average as
// long as its change exceeds 6e-8 of its size.
#pragma once

#include <cstdint>
#include <torch/types.h>

#include "harness/trial/training_options.h"

namespace hyfreedp::training {

class WeightAverage {
 public:
  explicit WeightAverage(const trial::TrainingOptions& options)
      : kind_(options.average), decay_(options.average_decay), from_(options.average_from) {}

  // Forgets everything: a run begins anew.
  void reset();
  // `weights` [d] as they are after step `step`.
  void observe(const torch::Tensor& weights, std::int64_t step);
  // [d]; undefined where nothing was averaged (yet): evaluate at the weights.
  const torch::Tensor& parameters() const { return average_; }

 private:
  trial::Average kind_;
  double decay_;
  std::int64_t from_;
  torch::Tensor average_;
};

}  // namespace hyfreedp::training
