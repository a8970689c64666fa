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

// Where a search may begin: the noise at which inverting the moment generating function (contour.h) meets the target, and
// how log epsilon falls with log noise there. Only a beginning: the accountant decides on both sides of it.
struct NoiseHint {
  double log_noise = 0;
  double slope = -1;
};
// Empty where the inversion does not apply or finds no such noise.
std::optional<NoiseHint> noise_hint(const EventsOfNoise& events_at, double epsilon, double delta);

// Smallest noise (within `tolerance`, relative) whose epsilon is at most `epsilon`; the answer is priced at exactly the
// returned noise. Between 0.01 and 1e8.
Result<Calibration> search_noise(const EpsilonOfNoise& epsilon_of, double epsilon, double tolerance,
                                 const std::optional<NoiseHint>& hint = {});

// How far above the smallest noise a search by this accountant may stop; an error for unknown accountants.
Result<double> calibration_tolerance(const std::string& accountant);

// "rdp" at `orders`, anything else by PLD.
Result<EpsilonAnswer> epsilon_by(const std::string& accountant, const Events& events, double delta,
                                 const std::vector<double>& orders);

}  // namespace hyfreedp::accounting
