#include "results/table/figure_spec.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/option_lines.h"
#include "harness/base/text.h"
#include "results/table/figure_options.h"

namespace hyfreedp::results {
namespace {

OptionSpec choice(std::string name, std::vector<std::string> choices, std::string help) {
  return {.name = std::move(name), .help = std::move(help), .choices = std::move(choices)};
}

OptionSpec metric() {
  return choice("metric", {"accuracy", "loss"}, "test metric: accuracy in percent or loss in nats");
}

// `what`: a box, a line or a colour.
OptionSpec by(const std::string& what) {
  return plain_option(
      "by",
      fmt::format("one {} for each group of rows (a row without a group is one), or for each row", what));
}

std::vector<FigureKind> make_kinds() {
  return {
      {"accuracy", "Test metric against ε",
       "One box for each panel and one line for each row: mean over seeds with bars of one sample standard "
       "deviation; the non-private column stands apart.",
       false,
       options_of<AccuracyOptions>(
           {metric(),
            plain_option("setting",
                         "in place of the metric a setting of the reported runs, or a product of settings "
                         "('rate * steps')")})},
      {"curves", "Curves over steps",
       "Stored scalars and test metrics of the reported runs over steps: median over seeds, with a band. One "
       "quantity: a "
       "box an (panel, epsilon); several: a column each.",
       false,
       options_of<CurvesOptions>(
           {plain_option("quantities",
                         "separated by commas: names of stored scalars (eta, R_l, d, distance, ...), 'test "
                         "loss', 'test accuracy', 'training loss' (evaluate: {training_split: true}), or "
                         "step-size (the one in force, where the method chooses it)"),
            plain_option("band", "over the seeds: smallest to largest, or the middle half"),
            choice("scale", {"auto", "linear", "logarithmic"},
                   "scale of the values; auto: logarithmic, except for accuracies and values that are not "
                   "positive")})},
      {"probe-fit", "Losses along the step and their parabola",
       "The released losses that a probing controller saw at some steps, over the step length, with the "
       "parabola fitted to "
       "them; one run a box row.",
       false,
       options_of<ProbeFitOptions>(
           {{.name = "at",
             .help = "steps to show (the nearest probe at or after each); none: four, evenly spread",
             .min = 0},
            {.name = "seed", .help = "seed of the run that is shown; none: the row's first", .min = 0}})},
      {"heat-map", "Grid of a test metric",
       "The test metric over two settings of the runs, mean over seeds; the best cell is framed.", true,
       options_of<HeatMapOptions>(
           {plain_option(
                "x", "setting along x: rate, clipping_constant, steps, ... or a path into a run's config"),
            plain_option("y", "setting along y"), metric(),
            plain_option("log_colour", "colours over the logarithm of the metric")})},
      {"box", "Candidates as box plots",
       "The test metric of every candidate (a run's settings, mean over seeds): quartiles, whiskers to the "
       "last candidate "
       "within 1.5 interquartile ranges, and the candidates as points.",
       true,
       options_of<BoxOptions>(
           {metric(), plain_option("marked", "candidates drawn black: settings, as in 'rate=0.001'"),
            plain_option("starred",
                         "candidates drawn as stars: settings, as in 'rate=0.001, beta1=0.9, beta2=0.999'"),
            by("box")})},
      {"candidates", "Candidates over steps",
       "Median and best over the candidates of each group of rows, over steps, with a band around the "
       "median.",
       true,
       options_of<CandidatesOptions>(
           {metric(),
            choice(
                "band", {"bootstrap", "range", "none"},
                "around the median: 95 % percentile bootstrap interval over candidates, or all candidates"),
            by("line")})},
      {"pareto", "Two quantities of every run and their Pareto front",
       "A point a run's settings (mean over seeds), y against x, and the front of those that no other beats "
       "in both.",
       true,
       options_of<ParetoOptions>(
           {plain_option("x", "setting, product of settings ('rate * steps'), or epsilon"), metric(),
            choice("front", {"lower", "higher", "none"}, "which x is better"),
            choice("x_scale", {"auto", "linear", "logarithmic"},
                   "auto: logarithmic over more than one decade"),
            by("colour")})},
      {"bars", "Cost relative to a row",
       "Time of the reported run, as a ratio to a row's: mean over seeds, bars of one sample standard "
       "deviation.",
       false,
       options_of<BarsOptions>(
           {plain_option("relative_to", "id of the row that is 1; empty: seconds, not ratios"),
            choice("per", {"step", "run"}, "seconds a step, or of the whole run")})},
      {"epsilon-steps", "ε over steps",
       "What a run's executed events had cost after each step, of the reported run of the first seed.", false,
       options_of<EpsilonStepsOptions>(
           {{.name = "points", .help = "steps at which it is priced", .min = 2, .max = 200}})},
      {"signal",
       "What probes see beside their noise",
       "Slope and curvature along the step over the standard deviation of the noise in them, against the "
       "number of trained "
       "parameters: a point a panel, a line a row.",
       false,
       {}},
      {"tuning-cost", "ε over the number of candidates",
       "What trying so many candidates would cost at a row's noise: each composed with the last (PLD or RDP, "
       "the smaller), "
       "and private selection with a geometric number of runs (RDP).",
       false,
       options_of<TuningCostOptions>(
           {{.name = "most", .help = "candidates at most", .min = 2, .max = 100000}})},
  };
}

bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

FigureRequest request_of(const spec::Figure& figure) {
  FigureRequest request{.kind = figure.kind,
                        .name = figure.name,
                        .title = figure.title.value_or(""),
                        .rows = figure.rows,
                        .panels = figure.panels,
                        .epsilons = spec::targets_of(figure.epsilons),
                        .options = figure.options,
                        .look = figure.look};
  if (const auto kind = find_figure_kind(request.kind)) {
    for (const auto& option : (**kind).options) {
      if (!request.options.contains(option.name)) request.options[option.name] = option.default_value;
    }
  }
  return request;
}

}  // namespace

const std::vector<FigureKind>& figure_kinds() {
  static const auto kKinds = [] {
    auto kinds = make_kinds();
    // An option that is added later must not change the hash of the specs before it.
    for (auto& kind : kinds) {
      for (auto& option : kind.options) option.stored_always = false;
      if (kind.name == "heat-map") kind.ranges = "";
      if (kind.name == "accuracy" || kind.name == "box" || kind.name == "probe-fit") kind.ranges = "y";
      if (kind.name == "bars") kind.ranges = "x";
      kind.has_colours = kind.name != "heat-map" && kind.name != "probe-fit" && kind.name != "tuning-cost";
    }
    return kinds;
  }();
  return kKinds;
}

Result<const FigureKind*> find_figure_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& kind : figure_kinds()) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return error(fmt::format("there is no figure kind '{}'.{} Kinds: {}.", name, did_you_mean(name, names),
                           join(names, ", ")));
}

bool FigureRequest::wants_row(const std::string& id, const std::string& group) const {
  return rows.empty() || has(rows, id) || (!group.empty() && has(rows, group));
}

bool FigureRequest::wants_panel(const std::string& id) const { return panels.empty() || has(panels, id); }

bool FigureRequest::wants_epsilon(const std::optional<double>& epsilon) const {
  return epsilons.empty() || std::find(epsilons.begin(), epsilons.end(), epsilon) != epsilons.end();
}

std::vector<FigureRequest> figure_requests(const std::vector<spec::Figure>& figures) {
  std::vector<FigureRequest> requests;
  requests.reserve(figures.size());
  for (const auto& figure : figures) requests.push_back(request_of(figure));
  return requests;
}

}  // namespace hyfreedp::results
