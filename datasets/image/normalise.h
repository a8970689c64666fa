// Per-example centring and scaling: a function of one example, so it reveals nothing of the others.
#pragma once

#include <cmath>
#include <span>

namespace hyfreedp::datasets {

// values <- (values - mean) * length / |values - mean|, in double. A constant vector becomes zero.
inline void centre_and_scale(std::span<float> values, double length) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0.0;
  for (const float value : values) {
    const double centred = static_cast<double>(value) - mean;
    squares += centred * centred;
  }
  // A smaller spread is the rounding error of the mean and not signal (values are of order 1).
  constexpr double kFlat = 1e-20;
  const double factor = squares > kFlat ? length / std::sqrt(squares) : 0.0;
  for (float& value : values) value = static_cast<float>((static_cast<double>(value) - mean) * factor);
}

}  // namespace hyfreedp::datasets
