// The one-sided noise search behind calibrate() and split_budget().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"

namespace hyfreedp::accounting {

using EpsilonOfNoise = std::function<Result<EpsilonAnswer>(double noise)>;

using EventsOfNoise = std::function<Events(double noise)>;

// The point at which a search begins: the noise at which the inversion of the moment generating
// function (contour.h) meets the target, and the slope of log epsilon over log noise there. It does
// not affect the answer, which the accountant decides.
struct NoiseHint {
  double log_noise = 0;
  double slope = -1;
};
// None if the inversion does not apply or finds no such noise.
std::optional<NoiseHint> noise_hint(const EventsOfNoise& events_at, double epsilon, double delta);

// The smallest noise multiplier in [0.01, 1e8], within the relative `tolerance`, whose epsilon is
// at most `epsilon`. The answer is priced at exactly the returned noise. An error where no noise in
// that range meets the target.
Result<Calibration> search_noise(const EpsilonOfNoise& epsilon_of, double epsilon, double tolerance,
                                 const std::optional<NoiseHint>& hint = {});

// The relative tolerance of a search by this accountant; an error for an unknown accountant.
Result<double> calibration_tolerance(const std::string& accountant);

// Epsilon by RDP at `orders` if `accountant` is "rdp", else by PLD.
Result<EpsilonAnswer> epsilon_by(const std::string& accountant, const Events& events, double delta,
                                 const std::vector<double>& orders);

}  // namespace hyfreedp::accounting
