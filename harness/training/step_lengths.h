// The lengths of a run's steps: one that the controller gives or that the optimizer reports, or one
// for each layer where the controller follows slopes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/training/slopes.h"
#include "harness/training/weight_step.h"

namespace hyfreedp::training {

// False for a length that the weights' type cannot hold, which ends a run like weights that are not
// finite.
bool fits(double length, const torch::Tensor& weights);
// The length that an optimizer with a step size of its own reports in its scalars; `multiplier`
// where it reports none.
double reported_eta(const std::map<std::string, double>& scalars, double multiplier);

class StepLengths {
 public:
  // The arguments must outlive the object. `weight_step`: subtract_scaled, or a test's in its
  // place.
  StepLengths(optimizers::LearningRateController& controller, const models::Network& network,
              const std::function<decltype(subtract_scaled)>& weight_step);

  // Null: the controller follows no slopes.
  SlopeMeter* slopes() { return slopes_ ? &*slopes_ : nullptr; }
  const SlopeMeter* slopes() const { return slopes_ ? &*slopes_ : nullptr; }
  // Tells the controller the slopes of this step's release, which was made at `sensitivity`, and
  // adds the controller's values to `scalars`.
  void follow_slopes(const trial::PrivacyPlan& plan, double sensitivity,
                     std::map<std::string, double>& scalars);

  bool fit(double eta, const torch::Tensor& weights) const;
  // w <- w - eta u, or with each layer's rate. Returns whether every weight is finite.
  bool step(torch::Tensor& weights, const torch::Tensor& direction, double eta) const;

 private:
  optimizers::LearningRateController& controller_;
  const std::function<decltype(subtract_scaled)>& weight_step_;
  std::optional<SlopeMeter> slopes_;
};

}  // namespace hyfreedp::training
