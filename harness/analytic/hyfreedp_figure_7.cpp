#include <boost/math/constants/constants.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/normal.h"
#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

double density(double x) {
  return std::exp(-x * x / 2) * boost::math::constants::one_div_root_two_pi<double>();
}

// Equation 8 with xi = 1.
double bias(double alpha) { return density(alpha) - alpha * accounting::normal_tail(alpha); }

// E[max(Z - alpha, 0)] by its definition, beside the closed form.
double integrated(double alpha) {
  using boost::math::quadrature::gauss_kronrod;
  return gauss_kronrod<double, 61>::integrate([&](double z) { return (z - alpha) * density(z); }, alpha,
                                              alpha + 40, 15, 1e-12);
}

struct RangeOptions {
  double from = -3, to = 4;
};
BOOST_DESCRIBE_STRUCT(RangeOptions, (), (from, to))

Result<Analytic> compute_figure(const json::object& resolved, const PaperValues&) {
  const auto [from, to] = read_options<RangeOptions>(resolved);
  if (!(from < to))
    return error(fmt::format("The curve would run from {} to {}; 'from' must be below 'to'.", from, to));
  Analytic done;
  auto& table = done.table;
  table.name = "hyfreedp-figure-7";
  table.title = "Clipping bias of normal losses";
  table.description =
      "phi(alpha) - alpha (1 - Phi(alpha)), alpha = (R_l - mu) / xi: the bias of a clipped mean of N(mu, "
      "xi^2) losses in units of "
      "xi, by the closed form and by integrating max(z - alpha, 0).";
  table.source = results::ValueTable::Source::formula;
  table.row_fields = {"alpha"};
  table.columns = {"closed form", "integrated"};
  for (const double alpha : {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0}) {
    auto checked = compared(integrated(alpha), bias(alpha), 6, 1e-9);
    table.rows.push_back({{fmt::format("{}", alpha)}, {ours_alone(bias(alpha), 6), checked}});
  }
  table.notes = {
      "Strictly falling in alpha, to 0: the larger the threshold, the smaller the bias; at R_l = mu it is "
      "0.40 xi.",
      "The column 'integrated' is held against the paper's formula evaluated."};
  results::Curve curve{"phi(a) - a (1 - Phi(a))", 0, false, false, true, {}};
  constexpr int kSteps = 140;
  for (int i = 0; i <= kSteps; ++i) {
    const double alpha = from + (to - from) * i / kSteps;
    curve.points.push_back({alpha, bias(alpha)});
  }
  done.figures.push_back({"hyfreedp-figure-7",
                          "Clipping bias of normal losses",
                          "The bias falls with the threshold and vanishes as it grows.",
                          {{"", "alpha = (R_l - mu) / xi", "bias / xi", false, false, {curve}}}});
  return done;
}

}  // namespace

Item hyfreedp_figure_7() {
  return {"hyfreedp-figure-7",
          "Clipping bias of normal losses: phi(a) - a (1 - Phi(a))",
          "Liu & Bu 2025 (HyFreeDP), figure 7, Corollary 1, equation 8",
          "hyfreedp",
          options_of<RangeOptions>({ranged_option("from", -20, 20, "smallest alpha of the curve"),
                                    ranged_option("to", -20, 20, "largest alpha of the curve")}),
          compute_figure};
}

}  // namespace hyfreedp::analytic
