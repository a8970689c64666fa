// What the probes of the published rule will see beside their noise, from public numbers alone.
#pragma once

#include <optional>

#include "harness/trial/trial_config.h"

namespace hyfreedp::cli {

struct ProbeForecast {
  double first_rate = 0;  // at which the first probe is made
  // The largest best rate at which the curvature that this probe releases can be twice the
  // deviation of its noise. It is an upper limit: the curvature may be smaller.
  double largest_visible = 0;
};

// Of a private run whose controller is `hyfreedp`, which probes at its learning rate; nothing for
// others. Assumes that the loss along the step is a parabola that is nowhere below 0 and that the
// loss bound R_l is at least the loss L at the weights, which it otherwise clips. With eta* as the
// best rate the curvature is then at most 2 L / eta*^2 <= 2 R_l / eta*^2, and as its noise is
// proportional to R_l, the limit is a public number: eta0 sqrt(B / (sqrt(6) sigma_l)) for three
// losses of a probe batch of B.
std::optional<ProbeForecast> foresee_probes(const trial::TrialConfig& config);

}  // namespace hyfreedp::cli
