// What a nightly comparison reads of a run (harness/trial/released_norms.h), from the vectors themselves: not from the rate and
// the direction, so that a step that is not what these say is seen.
//
// The change of the weights is that of the step before, seen at the next step's start: a step's line is written before its
// change is made. So step 0 has none, and the last step's own change is not seen.
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
  // Nothing below does anything where the evaluation asks for nothing, or the norms would be raw: those of a run without
  // noise on a training split that is not public.
  StepNorms(const trial::TrialConfig& config, std::vector<models::Slice> layout);
  bool wanted() const { return norms_ || residual_; }
  void reset();

  // In a step's order.
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
