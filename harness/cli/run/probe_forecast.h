// Forecasts what the probes of the published rule will see beside their noise, from public numbers
// alone.
#pragma once

#include <optional>

#include "harness/trial/trial_config.h"

namespace hyfreedp::cli {

struct ProbeForecast {
  double first_rate = 0;  // at which the first probe is made
  // The largest best rate at which the slope that a probe at the first rate releases can be twice
  // the deviation of its noise. It is an upper limit: the slope may be smaller.
  double largest_visible = 0;
};

// Returns the forecast of a private run whose controller is `hyfreedp`, which probes at its
// learning rate; none for others. The slope decides, not the curvature: a fit whose curvature is
// noise multiplies the rate by (r + z') / (sqrt(12) z), with r the slope over the deviation of its
// noise and z, z' standard normal draws, if both terms are positive. The geometric mean of that is
// above 1 where r is above about 2, and r is proportional to the rate.
//
// Assumes that the loss along the step is a parabola that is nowhere below 0 and that the loss
// bound R_l is at least the loss L at the weights, which it otherwise clips. With eta* as the best
// rate the slope is then at most 2 L / eta* <= 2 R_l / eta*, and as its noise is proportional to
// R_l, the limit is a public number: eta0 sqrt(2) B / sigma_l for three losses of a probe batch of
// B.
std::optional<ProbeForecast> foresee_probes(const trial::TrialConfig& config);

}  // namespace hyfreedp::cli
