#include "harness/training/step_lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyfreedp::training {

using torch::Tensor;

bool fits(double length, const Tensor& weights) {
  const double largest = weights.scalar_type() == torch::kFloat32 ? std::numeric_limits<float>::max()
                                                                  : std::numeric_limits<double>::max();
  return std::abs(length) <= largest;
}

double reported_eta(const std::map<std::string, double>& scalars, double multiplier) {
  for (const char* name : {"dlr", "lr_used", "eta"}) {
    if (const auto found = scalars.find(name); found != scalars.end()) return found->second;
  }
  return multiplier;
}

StepLengths::StepLengths(optimizers::LearningRateController& controller, const models::Network& network,
                         const std::function<decltype(subtract_scaled)>& weight_step)
    : controller_(controller), weight_step_(weight_step) {
  if (controller.follows_slopes()) slopes_.emplace(network);
}

void StepLengths::follow_slopes(const trial::PrivacyPlan& plan, double sensitivity,
                                std::map<std::string, double>& scalars) {
  const double noise = plan.is_private ? plan.gradient_noise * sensitivity / plan.batch_size : 0;
  controller_.observe({.layers = slopes_->by_layer(), .noise_sd = noise});
  for (const auto& [name, value] : controller_.scalars()) scalars[name] = value;
}

bool StepLengths::fit(double eta, const Tensor& weights) const {
  return fits(eta, weights) &&
         std::ranges::all_of(controller_.layer_rates(), [&](double rate) { return fits(rate, weights); });
}

bool StepLengths::step(Tensor& weights, const Tensor& direction, double eta) const {
  if (!slopes_) return weight_step_(weights, direction, eta, weights);
  bool finite = true;
  const auto rates = controller_.layer_rates();
  const auto& ranges = slopes_->ranges();
  for (std::size_t i = 0; i < ranges.size();) {
    const auto begin = ranges[i].begin;
    const double rate = rates.at(ranges[i].layer);
    while (i < ranges.size() && rates.at(ranges[i].layer) == rate) ++i;
    const auto size = ranges[i - 1].end - begin;
    auto part = weights.narrow(0, begin, size);
    finite = weight_step_(part, direction.narrow(0, begin, size), rate, part) && finite;
  }
  return finite;
}

}  // namespace hyfreedp::training
