// The statistics that tables need.
//
//   mean                 NaN if there are no values
//   sample_sd            with divisor n - 1; nothing if n < 2
//   difference_interval  two-sided t-interval at confidence `level` of the mean of a - b. If both
//                        have the same seeds they are paired by seed, else it is Welch's interval
//                        (unequal variances). Nothing if either side has fewer than two values or
//                        if nothing varies
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace hyfreedp::results {

double mean(std::span<const double> values);
std::optional<double> sample_sd(std::span<const double> values);
// Linear interpolation between order statistics (type 7); `quantile` in [0, 1], `values` not empty.
double quantile(std::span<const double> values, double quantile);

// Quartiles of at least one value, and the ends of the whiskers: the last values within `reach`
// interquartile ranges of the box, and no end inside it.
struct BoxPlot {
  double least = 0, low = 0, middle = 0, high = 0, most = 0;
};
BoxPlot box_plot(std::vector<double> values, double reach);

struct Interval {
  double low = 0;
  double high = 0;
};
// The two-sided t-interval of the mean; nothing if n < 2 or if nothing varies.
std::optional<Interval> mean_interval(std::span<const double> values, double level);
using BySeed = std::map<std::int64_t, double>;
std::optional<Interval> difference_interval(const BySeed& a, const BySeed& b, double level);

}  // namespace hyfreedp::results
