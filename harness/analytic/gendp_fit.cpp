#include <cmath>
#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

struct FitOptions {
  double slope = 1, curvature = 2, third = 0.2, noise = 0.01;
};
BOOST_DESCRIBE_STRUCT(FitOptions, (), (slope, curvature, third, noise))

struct Fit {
  double b = 0;
  double a = 0;
};

// argmin over (a, b) of the sum over eta_j in {-h, h} of (L(eta_j) - (L(0) - b eta_j + a
// eta_j^2 / 2))^2: the intercept is the released L(0), so two equations in two unknowns.
Fit fit_of(double below, double centre, double above, double h) {
  return {(below - above) / (2 * h), (above + below - 2 * centre) / (h * h)};
}

Result<Analytic> compute_fit(const json::object& resolved, const PaperValues&) {
  const auto options = read_options<FitOptions>(resolved);
  const double b = options.slope, a = options.curvature, c = options.third, noise = options.noise;
  const auto loss = [&](double eta) { return -b * eta + a * eta * eta / 2 + c * eta * eta * eta; };
  Analytic done;
  auto& table = done.table;
  table.name = "gendp-fit";
  table.title = "Bias and noise of the fitted learning rate";
  table.description = fmt::format(
      "Three losses at -h, 0, h along the step; true loss L - {} eta + {} eta^2 / 2 + {} eta^3, each loss "
      "released with standard "
      "deviation {}. Rate b / a of the noiseless fit; standard deviations of b and a.",
      b, a, c, noise);
  table.row_fields = {"h"};
  table.columns = {"b", "a", "rate b / a", "sd of b", "sd of a"};
  results::Curve rate{"b / a of the fit", 0, false, false, true, {}};
  results::Curve truth{"b / a at 0", 3, true, false, true, {}};
  results::Curve noise_b{"sd of b / b", 1, false, false, true, {}};
  results::Curve noise_a{"sd of a / a", 2, false, false, true, {}};
  for (int i = 0; i <= 12; ++i) {
    const double h = std::pow(10.0, -2 + i / 6.0);
    const auto fit = fit_of(loss(-h), loss(0), loss(h), h);
    const double sd_b = noise / (std::sqrt(2.0) * h);
    const double sd_a = noise * std::sqrt(6.0) / (h * h);
    if (i % 3 == 0) {
      table.rows.push_back({{fmt::format("{:.3g}", h)},
                            {ours_alone(fit.b, 4), ours_alone(fit.a, 4), ours_alone(fit.b / fit.a, 4),
                             ours_alone(sd_b, 4), ours_alone(sd_a, 4)}});
    }
    rate.points.push_back({h, fit.b / fit.a});
    truth.points.push_back({h, b / a});
    noise_b.points.push_back({h, sd_b / b});
    noise_a.points.push_back({h, sd_a / a});
  }
  table.notes = {
      "b = (L(-h) - L(h)) / 2h, a = (L(h) + L(-h) - 2 L(0)) / h^2. A third-order term moves b by -c h^2 and "
      "leaves a "
      "alone; noise on b falls with h, noise on a with h^2: a small probe step buys little bias and much "
      "noise.",
      "The note on GeN-DP has formulas only and prints no number to compare with."};
  results::CurvePanel left{"Bias", "probe step h", "rate of the noiseless fit", true, false, {rate, truth}};
  results::CurvePanel right{"Noise", "probe step h", "relative standard deviation", true, true, {noise_b}};
  if (noise > 0) right.curves.push_back(noise_a);
  if (noise <= 0) right.y_logarithmic = false;
  done.figures.push_back(
      {"gendp-fit",
       "Bias and noise of the fitted learning rate",
       "Left: the rate of the fit leaves the true one as the probe step grows. Right: the noise of slope and "
       "curvature falls with the probe step.",
       {left, right}});
  return done;
}

}  // namespace

Item gendp_fit() {
  return {"gendp-fit",
          "Bias and noise of the three-point parabola fit",
          "GeN-DP (formulas of the quadratic fit), Liu & Bu 2025, equation 6",
          "gendp",
          options_of<FitOptions>(
              {ranged_option("slope", 1e-6, 1e6, "b of the true loss L - b eta + a eta^2 / 2 + c eta^3"),
               ranged_option("curvature", 1e-6, 1e6, "a"),
               ranged_option("third", -1e6, 1e6, "c; 0: the loss is a parabola and the fit is exact"),
               ranged_option("noise", 0, 1e6, "standard deviation of a loss, sigma_l R_l / B")}),
          compute_fit};
}

}  // namespace hyfreedp::analytic
