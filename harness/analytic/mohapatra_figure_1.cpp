#include <cmath>
#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"
#include "harness/analytic/mohapatra_costs.h"

namespace hyfreedp::analytic {
namespace {

using accounting::Conversion;

struct Rule {
  const char* title;
  Conversion conversion;
};
constexpr Rule kRules[] = {{"Mironov 2017", Conversion::mironov},
                           {"Canonne et al. 2020", Conversion::canonne_kamath_steinke}};

struct FigureOptions {
  MohapatraRun run;
  double n_from = 5000, n_to = 1e6;
  std::int64_t points = 25;
  static constexpr std::array kInlined = {"run"};
};
BOOST_DESCRIBE_STRUCT(FigureOptions, (), (run, n_from, n_to, points))

MohapatraRun run_of(MohapatraRun run, Conversion conversion, double n) {
  run.conversion = conversion;
  run.n = n;
  return run;
}

enum class Quantity { ratio, talwar, candidates };

// The value of one data set: the cost ratio, Liu-Talwar's epsilon at a mean number of candidates,
// or how many candidates the moments accountant composes at Liu-Talwar's lowest price.
Result<double> value_of(Quantity quantity, const MohapatraRun& run, double mean) {
  auto talwar = liu_talwar_epsilon(run, mean);
  if (!talwar || quantity == Quantity::talwar) return talwar;
  if (quantity == Quantity::candidates) {
    const auto count = moments_candidates(run, *talwar);
    if (!count) return count.error();
    return static_cast<double>(*count);
  }
  const auto moments = moments_epsilon(run, 1);
  if (!moments) return moments.error();
  return *talwar / *moments;
}

struct Claim {
  std::string label;
  Quantity quantity;
  double n;
  double mean = 1;  // candidates of Liu-Talwar
  std::optional<double> printed;
  std::string note = {};
};

double round_down_units(double printed) { return std::pow(10.0, -decimals_of(printed)); }

// The paper's claims, as values.json lists them.
std::vector<Claim> claims_of(const PaperValues& paper) {
  std::vector<Claim> claims;
  const auto* listed = paper.at("/figure1_claims");
  if (!listed || !listed->is_array()) return claims;
  for (const auto& entry : listed->as_array()) {
    const auto& object = entry.as_object();
    const std::string label = string_or(object, "quantity", "");
    const double n = double_or(object, "n", 0);
    const auto& value = object.at("value");
    if (label.find("ratio") != std::string::npos) {
      claims.push_back({"LT / MA, one candidate", Quantity::ratio, n, 1, value.to_number<double>()});
    } else if (value.is_array()) {
      claims.push_back({"LT epsilon, gamma = 1", Quantity::talwar, n, 1, value.at(0).to_number<double>()});
      claims.push_back(
          {"LT epsilon, gamma = 0.001", Quantity::talwar, n, 1000, value.at(1).to_number<double>()});
    } else {
      claims.push_back(
          {"MA candidates at LT's price", Quantity::candidates, n, 1, value.to_number<double>()});
    }
  }
  return claims;
}

Result<void> fill_table(const FigureOptions& options, const PaperValues& paper, results::ValueTable& table) {
  auto claims = claims_of(paper);
  if (claims.empty()) {
    for (const double n : {5000.0, 950000.0})
      claims.push_back({"LT / MA, one candidate", Quantity::ratio, n, 1, {}});
  }
  for (const auto& claim : claims) {
    if (claim.quantity == Quantity::candidates && claim.n == 1e5) {
      claims.push_back({claim.label,
                        claim.quantity,
                        1e6,
                        1,
                        {},
                        "At ten times the printed n the count comes near the printed one: a zero may have "
                        "been dropped in n = 100,000."});
      break;
    }
  }
  for (const auto& claim : claims) {
    results::ValueRow row{{claim.label, fmt::format("{:.0f}", claim.n)}, {}};
    for (const auto& rule : kRules) {
      const auto ours = value_of(claim.quantity, run_of(options.run, rule.conversion, claim.n), claim.mean);
      if (!ours) return ours.error();
      const int decimals = claim.quantity == Quantity::candidates ? 0 : 2;
      row.cells.push_back(compared(*ours, claim.printed, decimals,
                                   claim.printed ? round_down_units(*claim.printed) * (1 + 1e-9) : 0));
      if (claim.printed) row.cells.back().paper_decimals = decimals_of(*claim.printed);
      if (!claim.note.empty()) footnote(table, row.cells.back(), claim.note);
    }
    table.rows.push_back(std::move(row));
  }
  return {};
}

std::vector<double> sizes_of(const FigureOptions& options) {
  const double from = std::log(options.n_from);
  const double to = std::log(options.n_to);
  std::vector<double> sizes;
  for (std::int64_t i = 0; i < options.points; ++i) {
    sizes.push_back(
        std::exp(from + (to - from) * static_cast<double>(i) / static_cast<double>(options.points - 1)));
  }
  return sizes;
}

Result<results::CurvePanel> over_sizes(const FigureOptions& options, Quantity quantity, std::string title,
                                       std::string y_label) {
  results::CurvePanel panel{std::move(title), "training records n", std::move(y_label), true, false, {}};
  int colour = 0;
  for (const auto& rule : kRules) {
    results::Curve curve{rule.title, colour++, false, false, true, {}};
    for (const double n : sizes_of(options)) {
      const auto y = value_of(quantity, run_of(options.run, rule.conversion, n), 1);
      if (!y) return y.error();
      curve.points.push_back({n, *y});
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

Result<results::CurvePanel> over_gamma(const FigureOptions& options) {
  results::CurvePanel panel{
      "Cost of more candidates", "stopping probability gamma", "epsilon of Liu-Talwar", true, true, {}};
  int colour = 2;  // not those of the conversions beside it
  for (const double n : {5000.0, 50000.0, 100000.0, 950000.0}) {
    results::Curve curve{fmt::format("n = {:.0f}", n), colour++, false, true, true, {}};
    for (const double gamma : {0.001, 0.01, 0.1, 1.0}) {
      const auto y = value_of(Quantity::talwar, run_of(options.run, Conversion::mironov, n), 1 / gamma);
      if (!y) return y.error();
      curve.points.push_back({gamma, *y});
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

Result<Analytic> compute_figure(const json::object& resolved, const PaperValues& paper) {
  const auto options = read_options<FigureOptions>(resolved);
  Analytic done;
  auto& table = done.table;
  table.name = "mohapatra-figure-1";
  table.title = "Claims of figure 1: Liu-Talwar against the moments accountant";
  table.description = fmt::format(
      "sigma = {}, lots of {}, T = {}, delta = {}; Renyi orders 2 to 512. LT: 3 eps_1 + 3 sqrt(2 delta_1), "
      "with 1 / gamma "
      "candidates in the mean. The paper does not say which conversion from Renyi divergence it used, so "
      "both are computed.",
      options.run.sigma, options.run.lot, options.run.steps, options.run.delta);
  table.row_fields = {"claim", "n"};
  for (const auto& rule : kRules) table.columns.push_back(rule.title);
  if (auto ok = fill_table(options, paper, table); !ok) return ok.error();
  table.notes = {
      "The claims are read off a figure in the paper's text: ours agrees within one unit of the last printed "
      "digit.",
      "No single conversion reproduces all claims."};
  const auto left = over_sizes(options, Quantity::ratio, "Liu-Talwar's price of one candidate",
                               "epsilon of LT / epsilon of MA");
  if (!left) return left.error();
  const auto middle = over_gamma(options);
  if (!middle) return middle.error();
  const auto right = over_sizes(options, Quantity::candidates, "Candidates at Liu-Talwar's lowest price",
                                "candidates composed");
  if (!right) return right.error();
  done.figures.push_back({"mohapatra-figure-1",
                          "Privacy cost of Liu-Talwar and of the moments accountant",
                          "Left: how many times the cost of one candidate Liu-Talwar takes, against the size "
                          "of the data. Middle: its cost against "
                          "the stopping probability, Mironov's conversion. Right: how many candidates the "
                          "moments accountant composes at the cost "
                          "of Liu-Talwar with one.",
                          {*left, *middle, *right}});
  return done;
}

}  // namespace

Item mohapatra_figure_1() {
  return {
      "mohapatra-figure-1",
      "Liu-Talwar against the moments accountant: cost ratio, cost of candidates, candidates at one price",
      "Mohapatra et al. 2021, figure 1, section 3",
      "mohapatra",
      joined({run_options("T (stated)"),
              options_of<FigureOptions>(
                  {ranged_option("n_from", 1000, 1e8, "smallest data set of the curves", "records"),
                   ranged_option("n_to", 1000, 1e8, "largest", "records"),
                   ranged_option("points", 2, 400, "points of a curve over n")})}),
      compute_figure};
}

}  // namespace hyfreedp::analytic
