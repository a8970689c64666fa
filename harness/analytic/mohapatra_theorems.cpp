#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/selection.h"
#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

constexpr const char* kWhy =
    "Theorem 2 prints alpha_opt = R / (C T sqrt(1 + sigma^2)). Its own bound, R C sqrt(1 + sigma^2) "
    "/ sqrt(T), is the "
    "value of R^2 / (2 alpha T) + alpha C^2 (1 + sigma^2) / 2 at alpha = R / (C sqrt(T) sqrt(1 + "
    "sigma^2)): with the "
    "printed rate the bound does not fall with T. That alpha_opt is inverse to C holds either way.";

struct TheoremOptions {
  double sigma = 4;
  std::int64_t steps = 100, lot = 250;
  double distance = 10 * std::sqrt(10.0), alpha = 0.001, xi = 1e-8, delta = 1e-6;
};
BOOST_DESCRIBE_STRUCT(TheoremOptions, (), (sigma, steps, lot, distance, alpha, xi, delta))

// The bound that the theorem's proof minimises over the rate: R^2 / (2 alpha T) + alpha C^2
// (1 + sigma^2) / 2.
double risk(double alpha, double distance, double clip, double steps, double sigma) {
  return distance * distance / (2 * alpha * steps) + alpha * clip * clip * (1 + sigma * sigma) / 2;
}

results::Curve rate_curve(const char* title, int colour, bool dashed, double distance, double per_step,
                          double sigma) {
  results::Curve curve{title, colour, dashed, false, true, {}};
  for (int i = -8; i <= 4; ++i) {
    const double clip = std::pow(10.0, i / 2.0);
    curve.points.push_back({clip, distance / (clip * per_step * std::sqrt(1 + sigma * sigma))});
  }
  return curve;
}

Result<Analytic> compute_theorems(const json::object& resolved, const PaperValues&) {
  const auto [sigma, steps, lot, distance, alpha, xi, delta] = read_options<TheoremOptions>(resolved);
  Analytic done;
  auto& table = done.table;
  table.name = "mohapatra-theorems";
  table.title = "Theorems 1 to 3 in numbers";
  table.description = fmt::format(
      "Theorem 1: the run's delta under Liu-Talwar at delta_f = {}. Theorem 2: the optimal rate at R = "
      "{:.4g}, T = {}, sigma = "
      "{} and the bound on the excess risk that it minimises. Theorem 3: the effective step of DPAdam "
      "without gradient at lots "
      "of {}, alpha = {}.",
      delta, distance, steps, sigma, lot, alpha);
  table.source = results::ValueTable::Source::formula;
  table.row_fields = {"theorem", "setting"};
  table.columns = {"value", "by the printed formula"};
  for (const double gamma : {1.0, 0.1, 0.01, 0.001}) {
    const auto run = accounting::liu_talwar_run_delta(1 / gamma, delta);
    if (!run) return run.error();
    table.rows.push_back({{"1: -log10 of delta_1", fmt::format("gamma = {}", gamma)},
                          {ours_alone(-std::log10(*run), 2), words("-")}});
  }
  for (const double clip : {0.1, 0.5, 1.0}) {
    const double scale = clip * std::sqrt(1 + sigma * sigma);
    const double best = distance / (scale * std::sqrt(steps));
    const double printed = distance / (scale * steps);
    const std::string where = fmt::format("C = {}", clip);
    // The printed formula's value stands beside it; they must agree to its rounding, here to a
    // millionth.
    auto rate = compared(best, printed, 5, 1e-6 * best);
    footnote(table, rate, kWhy);
    table.rows.push_back({{"2: optimal rate", where}, {rate, words("R / (C T sqrt(1 + sigma^2))")}});
    const double bound = distance * scale / std::sqrt(steps);
    table.rows.push_back({{"2: bound at that rate", where},
                          {compared(risk(best, distance, clip, steps, sigma), bound, 3, 1e-9 * bound),
                           words("R C sqrt(1 + sigma^2) / sqrt(T)")}});
    auto worse = compared(risk(printed, distance, clip, steps, sigma), bound, 3, 1e-9 * bound);
    footnote(table, worse, kWhy);
    table.rows.push_back(
        {{"2: bound at the printed rate", where}, {worse, words("R C sqrt(1 + sigma^2) / sqrt(T)")}});
  }
  for (const double clip : {0.1, 0.5, 1.0}) {
    table.rows.push_back(
        {{"3: effective step", fmt::format("C = {}", clip)},
         {ours_alone(alpha / (sigma * clip / lot + xi), 4), words("alpha / (sigma C / L + xi)")}});
  }
  table.footnotes.push_back(
      "Theorem 3's second equality takes xi out of the square root; for sigma C / L far above xi it makes no "
      "difference.");
  results::CurvePanel panel{"Optimal rate of Theorem 2", "clipping norm C", "rate alpha", true, true, {}};
  panel.curves.push_back(rate_curve("minimiser of the bound", 0, false, distance, std::sqrt(steps), sigma));
  panel.curves.push_back(rate_curve("as printed", 1, true, distance, steps, sigma));
  done.figures.push_back({"mohapatra-theorem-2",
                          "Rate and clipping norm are inverse",
                          "The optimal rate of Theorem 2 against the clipping norm over the range of figure "
                          "2: the diagonal of its "
                          "heat map.",
                          {panel}});
  return done;
}

}  // namespace

Item mohapatra_theorems() {
  return {
      "mohapatra-theorems",
      "Theorems 1 to 3 in numbers: delta_1, optimal rate, effective step",
      "Mohapatra et al. 2021, Theorems 1 to 3",
      "mohapatra",
      options_of<TheoremOptions>(
          {ranged_option("sigma", 0.1, 100, "noise multiplier (stated)"),
           {.name = "steps", .help = "T of the linear regression of figure 2 (stated)", .min = 1},
           {.name = "lot", .help = "lot size L (stated)", .min = 1},
           ranged_option(
               "distance", 1e-6, 1e6,
               "R = ||x_0 - x*||; in figure 2 the start is 0 and the optimum 10 in each of 10 coordinates"),
           ranged_option("alpha", 1e-9, 10, "base rate of DPAdam (stated)"),
           ranged_option("xi", 0, 1, "DPAdam's xi (Adam's default; not stated)"),
           ranged_option("delta", 1e-15, 0.5, "delta_f of Theorem 1 (stated)")}),
      compute_theorems};
}

}  // namespace hyfreedp::analytic
