#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/hyfreedp_noises.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

using accounting::Noise;

struct Way {
  const char* title;
  const char* accountant;
  Noise noise;
};
constexpr Way kWays[] = {{"RDP, Gaussian", "rdp", Noise::gaussian},
                         {"RDP, Laplace", "rdp", Noise::laplace},
                         {"GDP, Gaussian", "gdp", Noise::gaussian},
                         {"GDP, Laplace", "gdp", Noise::laplace}};
constexpr std::int64_t kIntervals[] = {1, 2, 5, 10, 25};

Result<results::CurvePanel> panel_of(const Way& way, const NoiseSetting& base, results::ValueTable& table) {
  results::CurvePanel panel{way.title, "steps between probes K", "noise multiplier", true, true, {}};
  panel.curves = {{"sigma_g (gradients)", 0, false, true, true, {}},
                  {"sigma_l (losses), as published", 1, false, true, true, {}},
                  {"sigma_g = sigma_l (naive)", 3, true, true, true, {}}};
  for (const auto interval : kIntervals) {
    auto setting = base;
    setting.interval = interval;
    const auto noises = paper_noises(setting, way.accountant, way.noise);
    if (!noises) return noises.error();
    const auto x = static_cast<double>(interval);
    panel.curves[0].points.push_back({x, noises->sigma_g});
    panel.curves[1].points.push_back({x, noises->sigma_l});
    panel.curves[2].points.push_back({x, noises->even});
    table.rows.push_back({{way.title, std::to_string(interval)},
                          {ours_alone(noises->sigma_g, 3), ours_alone(noises->sigma_l, 2),
                           ours_alone(noises->even, 3), ours_alone(noises->even / noises->sigma_g, 2)}});
  }
  return panel;
}

Result<Analytic> compute_figure(const json::object& resolved, const PaperValues&) {
  const auto base = read_options<NoiseSetting>(resolved);
  Analytic done;
  auto& table = done.table;
  table.name = "hyfreedp-figure-6";
  table.title = "Noise of gradients and losses by accountant and loss noise";
  table.description = fmt::format(
      "As published: every release composed as if on a sample of its own. GDP is the central limit theorem "
      "of equation 9, "
      "extended to Laplace noise by its chi-square divergence. epsilon = {}, {} unless a row says otherwise.",
      base.epsilon, describe(base));
  table.row_fields = {"accountant, loss noise", "K"};
  table.columns = {"sigma_g", "sigma_l", "even split", "even split / sigma_g"};
  table.footnotes = assumed_notes(base);
  results::CurveFigure figure{
      "hyfreedp-figure-6",
      "Noise by accountant and loss noise",
      "sigma_g, sigma_l and the even split (dashed) against the interval. The even split needs more noise on "
      "the gradients, most "
      "when probes are frequent, as the paper says. The paper's axes are not known from its text.",
      {}};
  for (const auto& way : kWays) {
    const auto panel = panel_of(way, base, table);
    if (!panel) return in_context(way.title, panel.error());
    figure.panels.push_back(*panel);
  }
  table.footnotes.push_back(
      "No sound sigma_l stands beside the Laplace columns: a Laplace and a Gaussian release of one sampled "
      "batch do not fold "
      "into one mechanism that the accountants price.");
  table.notes = {"Laplace noise is its scale; its standard deviation is sqrt(2) times that.",
                 "GDP for sampled batches is an approximation and no bound."};
  done.figures.push_back(std::move(figure));
  return done;
}

}  // namespace

Item hyfreedp_figure_6() {
  return {"hyfreedp-figure-6",
          "sigma_g and sigma_l by RDP and GDP, Gaussian and Laplace loss noise",
          "Liu & Bu 2025 (HyFreeDP), figure 6, equation 9",
          "hyfreedp",
          noise_options("the budget"),
          compute_figure};
}

}  // namespace hyfreedp::analytic
