// The norms that a nightly comparison reads of a run (harness/trial/released_norms.h). They are
// computed from the vectors themselves and not from rate and direction, so that a step that differs
// from these is noticed.
//
// A step's journal line is written before the weights change. The norm of a change therefore
// appears in the line of the next step; step 0 has none, and the change of the last step is not
// recorded.
#pragma once

#include <optional>
#include <span>
#include <torch/types.h>
#include <vector>

#include "harness/models/network.h"
#include "harness/trial/privacy_plan.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

class StepNorms {
 public:
  // Records nothing if the evaluation asks for nothing, or if the norms would be raw: those of a
  // run without noise on a training split that is not public.
  StepNorms(const trial::TrialConfig& config, std::vector<models::Slice> layout);
  bool wanted() const { return norms_ || residual_; }
  void reset();

  // The next three are called in the order of a step.
  void see_weights(const torch::Tensor& weights);  // before its change
  void see_sum(const torch::Tensor& sum);          // the clipped sum
  void see_release(const torch::Tensor& released, const trial::PrivacyPlan& plan);
  void add_to(std::map<std::string, double>& scalars, bool last_step) const;

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
