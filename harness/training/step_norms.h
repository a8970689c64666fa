// Norms of a run's gradients and weight changes, which nightly comparisons read
// (harness/trial/released_norms.h). They are computed from the vectors themselves, not from the
// learning rate and the direction, so that an error in applying these is noticed.
//
// The journal line of a step is written before the weights change. The norm of a change is
// therefore in the line of the next step: step 0 has none, and the change of the last step is not
// recorded.
#pragma once

#include <optional>
#include <span>
#include <torch/types.h>
#include <vector>

#include "harness/models/layers/network.h"
#include "harness/training/checkpoint.h"
#include "harness/trial/privacy_plan.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

// True if norms of gradients and weights are of released values: not those of a run without noise
// on a training split that is not public.
bool norms_are_released(const trial::TrialConfig& config);

class StepNorms {
 public:
  // Records nothing if the evaluation asks for nothing, or if the norms would be raw: those of a
  // run without noise on a training split that is not public.
  StepNorms(const trial::TrialConfig& config, std::vector<models::Slice> layout);
  bool wanted() const { return norms_ || residual_; }
  // Discards everything recorded, for an attempt that begins at step 0.
  void reset();

  // The next three are called in this order at each step.
  void see_weights(const torch::Tensor& weights);  // [d], before they change
  void see_sum(const torch::Tensor& sum);          // [d], the clipped sum
  // `sensitivity`: of the clipped sum at this step
  void see_release(const torch::Tensor& released, const trial::PrivacyPlan& plan, double sensitivity);
  // Adds the values of the step to its scalars; at the last step also those of each tensor.
  void add_to(std::map<std::string, double>& scalars, bool last_step) const;

  // The state on which the later steps' values depend, between two steps. restore() is called after
  // reset().
  State state() const;
  void restore(const State& state);

 private:
  void see_change(const torch::Tensor& change);

  bool norms_ = false;
  bool residual_ = false;
  std::vector<models::Slice> layout_;
  torch::Tensor weights_;  // [d]: before the last change
  torch::Tensor sum_;      // [d]
  std::int64_t changes_ = 0;
  std::vector<double> tensor_squares_;  // one a slice, summed over steps
  double gradient_norm_ = 0;
  std::optional<double> update_norm_;
  std::optional<double> noise_square_;
  double dimension_ = 0;
};

}  // namespace hyfreedp::training
