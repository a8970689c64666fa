#include "optimizers/quadratic_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/base/result.h"

namespace hyfreedp::optimizers {
namespace {

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool is_central_difference(const std::vector<double>& abscissas) {
  return abscissas.size() == 3 && abscissas[0] == 0 && abscissas[1] == -abscissas[2] && abscissas[1] > 0;
}

// Normal equations in long double on scaled abscissas and losses relative to the centre: 3 to 9
// points need no more.
struct Moments {
  long double x1 = 0, x2 = 0, x3 = 0, x4 = 0, y = 0, xy = 0, x2y = 0;
  long double count = 0;
};

Moments moments_of(const std::vector<double>& abscissas, const std::vector<double>& losses, double scale,
                   double center) {
  Moments sums;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const long double x = static_cast<long double>(abscissas[i]) / scale;
    const long double y = static_cast<long double>(losses[i]) - center;
    sums.count += 1;
    sums.x1 += x;
    sums.x2 += x * x;
    sums.x3 += x * x * x;
    sums.x4 += x * x * x * x;
    sums.y += y;
    sums.xy += x * y;
    sums.x2y += x * x * y;
  }
  return sums;
}

struct Polynomial {  // y = c0 + c1 x + c2 x^2
  long double c0 = 0, c1 = 0, c2 = 0;
};

Polynomial solve(Moments sums, Intercept intercept) {
  const bool is_free = intercept == Intercept::free;
  const long double n = sums.count, mean1 = sums.x1 / n, mean2 = sums.x2 / n, mean_y = sums.y / n;
  if (is_free) {  // eliminate the intercept by centring
    sums.x4 -= n * mean2 * mean2;
    sums.x3 -= n * mean1 * mean2;
    sums.x2 -= n * mean1 * mean1;
    sums.xy -= n * mean1 * mean_y;
    sums.x2y -= n * mean2 * mean_y;
  }
  const long double determinant = sums.x2 * sums.x4 - sums.x3 * sums.x3;
  Polynomial poly;
  poly.c1 = (sums.xy * sums.x4 - sums.x2y * sums.x3) / determinant;
  poly.c2 = (sums.x2y * sums.x2 - sums.xy * sums.x3) / determinant;
  if (is_free) poly.c0 = mean_y - poly.c1 * mean1 - poly.c2 * mean2;
  return poly;
}

QuadraticFit least_squares(const std::vector<double>& abscissas, const std::vector<double>& losses,
                           Intercept intercept) {
  double scale = 0;
  for (const double x : abscissas) scale = std::max(scale, std::abs(x));
  const double center = center_loss(abscissas, losses);
  const auto poly = solve(moments_of(abscissas, losses, scale, center), intercept);
  const long double wide = scale;
  return {.curvature = double(2 * poly.c2 / wide / wide),
          .slope = double(-poly.c1 / wide),
          .intercept = double(center + poly.c0)};
}

double r_squared(const QuadraticFit& fit, const std::vector<double>& abscissas,
                 const std::vector<double>& losses) {
  const double mean = std::accumulate(losses.begin(), losses.end(), 0.0) / double(losses.size());
  double residual = 0, total = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double x = abscissas[i];
    const double fitted = fit.intercept - fit.slope * x + fit.curvature * x * x / 2;
    residual += (losses[i] - fitted) * (losses[i] - fitted);
    total += (losses[i] - mean) * (losses[i] - mean);
  }
  return 1 - residual / total;
}

}  // namespace

std::vector<double> symmetric_abscissas(double h, std::int64_t pairs) {
  std::vector<double> abscissas = {0};
  for (std::int64_t k = 1; k <= pairs; ++k) {
    abscissas.push_back(static_cast<double>(k) * h);
    abscissas.push_back(-static_cast<double>(k) * h);
  }
  return abscissas;
}

double center_loss(const std::vector<double>& abscissas, const std::vector<double>& losses) {
  const auto found = std::find(abscissas.begin(), abscissas.end(), 0.0);
  HYFREEDP_CHECK(found != abscissas.end(), "a fit needs the loss at the weights themselves");
  return losses[std::size_t(found - abscissas.begin())];
}

QuadraticFit fit_quadratic(const std::vector<double>& abscissas, const std::vector<double>& losses,
                           Intercept intercept) {
  HYFREEDP_CHECK(abscissas.size() == losses.size() && losses.size() >= 3, "a fit needs three losses or more");
  if (!all_finite(losses)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {.curvature = nan, .slope = nan, .intercept = nan, .r2 = nan};
  }
  if (is_central_difference(abscissas)) {
    const double h = abscissas[1];
    return {.curvature = (losses[1] + losses[2] - 2 * losses[0]) / (h * h),
            .slope = (losses[2] - losses[1]) / (2 * h),
            .intercept = losses[0],
            .r2 = 1};
  }
  QuadraticFit fit = least_squares(abscissas, losses, intercept);
  fit.r2 = losses.size() == 3 ? 1 : r_squared(fit, abscissas, losses);
  return fit;
}

FitNoise noise_of_fit(const std::vector<double>& abscissas, double sd, bool differences) {
  // The fit is linear in the losses.
  FitNoise squares;
  for (std::size_t i = 0; i < abscissas.size(); ++i) {
    if (differences && abscissas[i] == 0) continue;
    std::vector<double> unit(abscissas.size(), 0.0);
    unit[i] = 1;
    const auto fit = fit_quadratic(abscissas, unit, Intercept::fixed);
    squares.curvature += fit.curvature * fit.curvature;
    squares.slope += fit.slope * fit.slope;
  }
  return {.curvature = sd * std::sqrt(squares.curvature), .slope = sd * std::sqrt(squares.slope)};
}

std::string judge_fit(const QuadraticFit& fit, const std::vector<double>& losses,
                      std::optional<double> r2_min) {
  if (!all_finite(losses)) return "nonfinite_loss";
  if (!(fit.curvature > 0)) return "H_nonpositive";
  if (!(fit.slope > 0)) return "G_nonpositive";
  if (!std::isfinite(fit.minimum()) || fit.minimum() <= 0) return "eta_nonfinite";
  if (r2_min && losses.size() > 3 && !(fit.r2 > *r2_min)) return "r2_low";
  return "accepted";
}

}  // namespace hyfreedp::optimizers
