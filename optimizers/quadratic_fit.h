// The parabola through losses along the descent direction, and whether its minimum may become the
// step size.
//
//   L(w - x u) ~ c - G x + H x^2 / 2, step size G / H (HyFreeDP eq. 6; x = +h: the loss at w - h u)
//
// Three points {0, +h, -h} fit exactly: H = (L+ + L- - 2 L0) / h^2, G = (L- - L+) / (2 h). Any
// other set is fitted by least squares, the intercept fixed to the loss at x = 0
// (as eq. 6 prints it) or free.
//   r2 = 1 - SS_residual / SS_total over all points
// Verdicts, the first that applies:
//   nonfinite_loss   a loss is not finite
//   H_nonpositive    H is not above 0
//   G_nonpositive    G is not above 0
//   eta_nonfinite    G / H is not a positive finite number
//   r2_low           r2 is not above r2_min, where one is asked for and there are more than three
//                    points (three fit exactly)
//   accepted
// Source: Liu and Bu, ICLR 2025, eq. 5 and 6; r2 from the public GeN code (Bu and Xu 2024,
// arXiv:2407.02772).
#pragma once

#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hyfreedp::optimizers {

enum class Intercept { fixed, free };
BOOST_DESCRIBE_ENUM(Intercept, fixed, free)

struct QuadraticFit {
  double curvature = 0;  // H
  double slope = 0;      // G
  double intercept = 0;  // c
  double r2 = 0;
  double minimum() const { return slope / curvature; }  // G / H
};

// Standard deviations of G and H that come from noise of deviation `sd` in each loss, independent;
// `differences`: in each loss's difference from the one at x = 0, which is the same for all
// (paired release). Three points: sqrt(6) sd / h^2 and sd / (sqrt(2) h); of differences
// sqrt(2) sd / h^2 and sd / (sqrt(2) h).
struct FitNoise {
  double curvature = 0;
  double slope = 0;
};
FitNoise noise_of_fit(const std::vector<double>& abscissas, double sd, bool differences);

// 0, h, -h, ..., pairs h, -pairs h.
std::vector<double> symmetric_abscissas(double h, std::int64_t pairs);

// Fits the losses at the abscissas, which must have x = 0 and at least two others. All members are
// NaN if a loss is not finite.
QuadraticFit fit_quadratic(const std::vector<double>& abscissas, const std::vector<double>& losses,
                           Intercept intercept);

// The verdict on a fit: one of the names above.
std::string judge_fit(const QuadraticFit& fit, const std::vector<double>& losses,
                      std::optional<double> r2_min = std::nullopt);

// The loss at x = 0.
double center_loss(const std::vector<double>& abscissas, const std::vector<double>& losses);

}  // namespace hyfreedp::optimizers
