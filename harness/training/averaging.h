// An average of the weights over training, at which the model is evaluated
// (trial::TrainingOptions).
//   ema   a += (1 - d_t) (w - a), d_t = min(decay, (1 + t) / (10 + t)), where t = 0 at the first
//         weights that are averaged (De et al., arXiv:2204.13650, section 3: this warm-up removes
//         the initial weights from the average)
//   swa   a += (w - a) / (t + 1): the mean (Izmailov et al., arXiv:1803.05407)
// It is a function of released values only, so it costs no privacy. An optimizer that has an
// average of its own keeps it; asking for both is refused at setup. The average has the weights'
// type: at decay 0.9999 a float32 update changes the average as long as the change exceeds 6e-8 of
// its size.
#pragma once

#include <cstdint>
#include <torch/types.h>

#include "harness/trial/training_options.h"

namespace hyfreedp::training {

class WeightAverage {
 public:
  explicit WeightAverage(const trial::TrainingOptions& options)
      : kind_(options.average), decay_(options.average_decay), from_(options.average_from) {}

  // Forgets all weights, for a run that begins again.
  void reset();
  // Adds the weights [d] after step `step`.
  void observe(const torch::Tensor& weights, std::int64_t step);
  // The average [d]; undefined if nothing was averaged so far, in which case the model is evaluated
  // at the weights.
  const torch::Tensor& parameters() const { return average_; }
  // Goes on from an average [d] that parameters() gave; undefined: nothing was averaged so far.
  void restore(const torch::Tensor& average);

 private:
  trial::Average kind_;
  double decay_;
  std::int64_t from_;
  torch::Tensor average_;
};

}  // namespace hyfreedp::training
