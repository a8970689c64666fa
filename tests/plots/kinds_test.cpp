// The figure kinds over a made-up database: what is drawn is what the store has.
#include "plots/kinds.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "plots/colour_scale.h"
#include "results/store/records.h"
#include "tests/plots/grid_database.h"
#include "tests/plots/pictures.h"

namespace hyfreedp::plots {
namespace kinds_test {

using testing::HasSubstr;
using testing::Not;

results::FigureRequest request_of(const json::object& figure) {
  return results::figure_requests({from_json<spec::Figure>(figure, "figure").value()}).front();
}

class Kinds : public grid::Database {
 protected:
  static Outcome outcome(const json::object& figure, bool confidential = false) {
    auto table = table_;
    table.confidential = confidential;
    const auto request = request_of(figure);
    auto built = build_figure({.store = *store_, .table = table, .spec = spec_}, request);
    EXPECT_TRUE(built) << built.error().message;
    return built ? std::move(*built) : Outcome{};
  }
  static Figure figure(const json::object& request, bool confidential = false) {
    auto built = outcome(request, confidential);
    EXPECT_TRUE(built.figure) << built.why;
    if (!built.figure) return {};
    expect_on_canvas(*built.figure);
    check_picture(*built.figure);
    return std::move(*built.figure);
  }
};

const Line* line_of(const Box& box, const std::string& colour, int dash = 1) {
  const auto found = std::find_if(box.lines.begin(), box.lines.end(), [&](const Line& line) {
    return line.style.colour == colour && line.style.dash == dash;
  });
  return found == box.lines.end() ? nullptr : &*found;
}

TEST_F(Kinds, HeatMapHoldsTheMeanOverSeedsAndFramesTheBest) {
  const auto drawn =
      figure({{"kind", "heat-map"}, {"name", "heat-map"}, {"rows", {"DPSGD"}}, {"options", json::object{}}});
  ASSERT_EQ(drawn.boxes.size(), 4u) << "two epsilons, each with a colour bar";
  std::map<std::string, int> values;
  for (const auto& text : drawn.texts) ++values[text.text];
  // rate 0.1, C 0.5 at epsilon 3: rate * C = 0.05, the best.
  EXPECT_EQ(
      values[fmt::format("{:.1f}", (grid::accuracy_of(0.1, 0.5, 0) + grid::accuracy_of(0.1, 0.5, 1)) / 2)],
      1);
  const auto& box = drawn.boxes[1].bare ? drawn.boxes[0] : drawn.boxes[1];
  EXPECT_EQ(box.patches.size(), grid::kRates.size() * grid::kThresholds.size());
  ASSERT_EQ(box.lines.size(), 1u);
  EXPECT_EQ(box.lines[0].points[0].x, 2) << "rate 0.1";
  EXPECT_EQ(box.lines[0].points[0].y, 2) << "C 0.5";
  EXPECT_EQ(box.x.ticks[2].text, "0.1");
  std::string lightest;
  for (const auto& patch : drawn.boxes[3].bare ? drawn.boxes[2].patches : drawn.boxes[3].patches) {
    if (patch.left == 2 && patch.bottom == 2) lightest = patch.colour;
  }
  EXPECT_EQ(lightest, scale_colour(1)) << "the best of the figure is lightest";
}

TEST_F(Kinds, HeatMapOfTheLossHasItsLeastLightest) {
  const auto drawn = figure(
      {{"kind", "heat-map"},
       {"name", "heat-map-loss"},
       {"rows", {"DPSGD"}},
       {"epsilons", {3}},
       {"options", {{"metric", "loss"}, {"log_colour", true}, {"x", "clipping_constant"}, {"y", "rate"}}}});
  ASSERT_EQ(drawn.boxes.size(), 2u);
  const auto& box = drawn.boxes[0].bare ? drawn.boxes[1] : drawn.boxes[0];
  EXPECT_EQ(box.lines[0].points[0].x, 2) << "C 0.5";
  EXPECT_EQ(box.lines[0].points[0].y, 2) << "rate 0.1";
}

TEST_F(Kinds, HeatMapSaysWhatItDidNotFind) {
  EXPECT_THAT(outcome({{"kind", "heat-map"}, {"name", "h"}, {"options", {{"x", "momentum"}}}}).why,
              HasSubstr("'momentum'"));
}

TEST_F(Kinds, RowsOfPrivateSelectionAreRefusedUnlessConfidential) {
  const json::object alone{
      {"kind", "box"}, {"name", "box-selection"}, {"rows", {"selection"}}, {"options", json::object{}}};
  EXPECT_THAT(outcome(alone).why, HasSubstr("--confidential"));
  EXPECT_TRUE(outcome(alone, true).figure);
  for (const char* kind : {"box", "candidates", "pareto", "heat-map"}) {
    const json::object all{{"kind", kind}, {"name", std::string("all-") + kind}, {"options", json::object{}}};
    const auto closed = outcome(all), open = outcome(all, true);
    ASSERT_TRUE(closed.figure && open.figure) << kind << closed.why;
    EXPECT_THAT(closed.figure->caption, HasSubstr("DP-hyper")) << kind << ": it says what it leaves out";
    const auto script = gnuplot_script(*closed.figure, FileKind::svg, "x.svg");
    EXPECT_THAT(script, Not(HasSubstr("12.34"))) << kind;
    if (std::string(kind) != "heat-map" && std::string(kind) != "candidates") {
      EXPECT_THAT(gnuplot_script(*open.figure, FileKind::svg, "x.svg"), HasSubstr("12.34")) << kind;
    }
  }
}

TEST_F(Kinds, BoxesMarkTheCandidatesThatAreNamed) {
  const auto drawn = figure({{"kind", "box"},
                             {"name", "box"},
                             {"rows", {"DPSGD", "DPAdam", "search"}},
                             {"options", {{"marked", "rate=0.001"}, {"starred", "rate=0.001, beta1=0.9"}}}});
  ASSERT_EQ(drawn.boxes.size(), 2u);
  std::map<std::pair<std::string, int>, std::size_t> points;
  for (const auto& line : drawn.boxes[0].lines) {
    if (line.markers) points[{line.style.colour, line.style.marker}] += line.points.size();
  }
  EXPECT_EQ((points[{"#222222", 7}]), 5u + 3u)
      << "DPSGD at rate 0.001 with five thresholds, DPAdam with three more betas";
  EXPECT_EQ((points[{"#F0C000", 13}]), 2u) << "DPAdam and the search at their defaults";
  EXPECT_EQ((points[{"#8A8A8A", 6}]), 15u + 12u + 3u);
  EXPECT_EQ(drawn.legend.size(), 3u);
  EXPECT_THAT(drawn.caption, Not(HasSubstr("No candidate")));
  EXPECT_THAT(figure({{"kind", "box"}, {"name", "b"}, {"options", {{"starred", "rate=0.3"}}}}).caption,
              HasSubstr("No candidate is 'rate=0.3': none is starred."));
  EXPECT_FALSE(
      outcome({{"kind", "box"}, {"name", "b"}, {"rows", {"nobody"}}, {"options", json::object{}}}).figure);
}

TEST_F(Kinds, ABadListOfSettingsIsAnError) {
  const auto request = request_of({{"kind", "box"}, {"name", "b"}, {"options", {{"marked", "rate:1"}}}});
  const auto built = build_figure({.store = *store_, .table = table_, .spec = spec_}, request);
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message, HasSubstr("'rate=0.001, beta1=0.9'"));
}

TEST_F(Kinds, CandidatesHaveTheirMedianAndTheirBest) {
  const auto drawn = figure({{"kind", "candidates"},
                             {"name", "candidates"},
                             {"rows", {"DPSGD", "DPAdam"}},
                             {"options", json::object{}}});
  ASSERT_EQ(drawn.boxes.size(), 2u);
  const auto colour = MethodColours({"dpsgd"}).style("dpsgd", 0, 0).colour;
  const auto* median = line_of(drawn.boxes[1], colour, 1);
  const auto* best = line_of(drawn.boxes[1], colour, 2);
  ASSERT_TRUE(median && best && median->band && !best->band);
  std::vector<double> last;
  for (const double rate : grid::kRates) {
    for (const double threshold : grid::kThresholds) {
      last.push_back((grid::accuracy_of(rate, threshold, 0) + grid::accuracy_of(rate, threshold, 1)) / 2);
    }
  }
  std::sort(last.begin(), last.end());
  EXPECT_NEAR(median->points.back().y, (last[9] + last[10]) / 2, 1e-9);
  EXPECT_NEAR(best->points.back().y, last.back(), 1e-9);
  EXPECT_LE(*median->points.back().low, median->points.back().y);
  EXPECT_GE(*median->points.back().high, median->points.back().y);
  EXPECT_GT(*median->points.back().low, last.front()) << "an interval of the median, not the range";
  EXPECT_EQ(drawn.legend[1].title, "DPSGD, best of 20");
}

TEST_F(Kinds, TheFrontHoldsThoseThatNoOtherBeats) {
  const auto drawn = figure({{"kind", "pareto"},
                             {"name", "pareto"},
                             {"rows", {"DPSGD", "DPAdam"}},
                             {"epsilons", {3}},
                             {"options", json::object{}}});
  ASSERT_EQ(drawn.boxes.size(), 1u);
  const auto& box = drawn.boxes[0];
  EXPECT_TRUE(box.x.logarithmic);
  const auto& front = box.lines[0].points;
  ASSERT_GE(front.size(), 2u);
  for (std::size_t l = 1; l < box.lines.size(); ++l) {
    for (const auto& point : box.lines[l].points) {
      const bool beaten = std::any_of(front.begin(), front.end(), [&](const Point& better) {
        return better.x <= point.x && better.y >= point.y;
      });
      EXPECT_TRUE(beaten) << point.x << " " << point.y;
    }
  }
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_GT(front[i].x, front[i - 1].x);
    EXPECT_GT(front[i].y, front[i - 1].y);
  }
}

TEST_F(Kinds, ParetoOverEpsilonIsOneBox) {
  const auto drawn =
      figure({{"kind", "pareto"}, {"name", "pareto-epsilon"}, {"options", {{"x", "epsilon"}}}});
  EXPECT_EQ(drawn.boxes.size(), 1u);
}

TEST_F(Kinds, BarsArePairedRatios) {
  const auto drawn = figure({{"kind", "bars"},
                             {"name", "bars"},
                             {"rows", {"free", "selection"}},
                             {"options", {{"relative_to", "search"}}}});
  ASSERT_EQ(drawn.boxes.size(), 2u);
  const double ratio = (0.9 / 0.6 + 0.93 / 0.63) / 2;
  EXPECT_TRUE(std::any_of(drawn.boxes[0].patches.begin(), drawn.boxes[0].patches.end(),
                          [&](const Patch& patch) { return std::abs(patch.right - ratio) < 1e-9; }));
  EXPECT_EQ(drawn.boxes[0].patches.size(), 3u);
  EXPECT_THAT(drawn.texts.front().text, HasSubstr("NonDP-GS"));
}

TEST_F(Kinds, CurvesOfSeveralQuantitiesStandSideBySide) {
  const auto drawn = figure({{"kind", "curves"},
                             {"name", "curves"},
                             {"rows", {"free"}},
                             {"options", {{"quantities", "R_l, eta, test loss, test accuracy"}}}});
  ASSERT_EQ(drawn.boxes.size(), 8u);
  EXPECT_EQ(drawn.boxes[0].bottom, drawn.boxes[3].bottom);
  EXPECT_LT(drawn.boxes[4].top, drawn.boxes[0].bottom);
  EXPECT_TRUE(drawn.boxes[1].y.logarithmic);
  EXPECT_FALSE(drawn.boxes[3].y.logarithmic);
  EXPECT_NEAR(drawn.boxes[3].lines[0].points.back().y, 83.5 - 2 + 0.1, 1e-9) << "median of two seeds";
  EXPECT_NEAR(*drawn.boxes[3].lines[0].points.back().high, 83.5 - 2 + 0.2, 1e-9);
  EXPECT_THAT(outcome({{"kind", "curves"}, {"name", "c"}, {"options", {{"quantities", "nothing"}}}}).why,
              HasSubstr("nothing"));
  EXPECT_THAT(drawn.caption, Not(HasSubstr("No run stores")));
  EXPECT_THAT(
      figure({{"kind", "curves"}, {"name", "c"}, {"options", {{"quantities", "eta, nonsense"}}}}).caption,
      HasSubstr("No run stores 'nonsense' at two steps or more."));
}

TEST_F(Kinds, ProbesShowWhatTheControllerSaw) {
  const auto drawn = figure({{"kind", "probe-fit"},
                             {"name", "probe-fit"},
                             {"epsilons", {3}},
                             {"options", {{"at", {0, 12, 50}}, {"seed", 1}}}});
  ASSERT_EQ(drawn.boxes.size(), 3u);
  EXPECT_THAT(drawn.texts[2].text, HasSubstr("step 0"));
  const auto& box = drawn.boxes[1];  // step 15, the first probe from 12 on
  const auto* losses = line_of(box, "#222222");
  ASSERT_TRUE(losses != nullptr && losses->points.size() == 3u);
  const double t = 16 / grid::kSteps, eta = 0.01 + 0.02 * t, slope = 4 - 3 * t;
  EXPECT_NEAR(losses->points[0].x, -eta, 1e-12);
  EXPECT_NEAR(losses->points[0].y, 2 - t + 0.01 + slope * eta + slope / 0.02 * eta * eta / 2, 1e-12);
  const auto* fit = line_of(box, "#0072B2");
  ASSERT_TRUE(fit != nullptr);
  for (const auto& point : fit->points) {
    EXPECT_NEAR(point.y, 2 - t + 0.01 - slope * point.x + slope / 0.02 * point.x * point.x / 2, 1e-9);
  }
  EXPECT_THAT(
      outcome({{"kind", "probe-fit"}, {"name", "p"}, {"rows", {"DPSGD"}}, {"options", json::object{}}}).why,
      HasSubstr("controllers that probe"));
}

// A database whose runs of `free` at epsilon 3 are without noise.
std::unique_ptr<results::Store> without_noise(const std::string& dataset) {
  auto store = *results::Store::in_memory();
  const auto change = [&](results::TrialRecord& trial, const auto&) {
    if (!trial.id.starts_with("trial-free-3-")) return;
    trial.config["privacy"].as_object()["is_private"] = false;
    trial.config["dataset"] = {{"name", dataset}};
  };
  EXPECT_TRUE(grid::Maker(*store, change).fill({}));
  return store;
}

Outcome drawn_of(const results::Store& store, const json::object& figure, bool confidential) {
  auto table = *results::build_table(store, "grid", {.confidential = confidential});
  const auto spec = *results::spec_of(**store.spec("grid"));
  const auto request = request_of(figure);
  return *build_figure({.store = store, .table = table, .spec = spec}, request);
}

bool has_text(const Figure& figure, const std::string& text) {
  return std::any_of(figure.texts.begin(), figure.texts.end(),
                     [&](const Text& one) { return one.text.find(text) != std::string::npos; });
}

const json::object kProbes{{"kind", "probe-fit"}, {"name", "p"}, {"options", json::object{}}};

json::object curves_of_free(const std::string& quantities) {
  return {{"kind", "curves"}, {"name", "c"}, {"rows", {"free"}}, {"options", {{"quantities", quantities}}}};
}

TEST(RunsWithoutNoise, RawLossesOfPrivateDataAreNotDrawn) {
  const auto store = without_noise("fashion-mnist");
  const auto probes = drawn_of(*store, kProbes, false);
  ASSERT_TRUE(probes.figure);
  EXPECT_EQ(probes.figure->boxes.size(), 4u);
  EXPECT_TRUE(has_text(*probes.figure, "ε = 1, step"));
  EXPECT_FALSE(has_text(*probes.figure, "ε = 3"));
  EXPECT_NE(probes.figure->caption.find("their losses are not released"), std::string::npos);
  for (const char* quantities : {"R_l, test loss", "private_loss, R_l", "H, R_l"}) {
    const auto curves = drawn_of(*store, curves_of_free(quantities), false);
    ASSERT_TRUE(curves.figure) << quantities;
    EXPECT_EQ(curves.figure->boxes.size(), 2u) << quantities;
    EXPECT_TRUE(has_text(*curves.figure, "ε = 1")) << "a box says its epsilon, also where there is one alone";
    EXPECT_NE(curves.figure->caption.find("their losses are not released"), std::string::npos);
  }
  const auto sizes = drawn_of(*store, curves_of_free("eta, test loss"), false);
  ASSERT_TRUE(sizes.figure);
  EXPECT_EQ(sizes.figure->boxes.size(), 4u) << "step sizes and test metrics are shown";
  EXPECT_EQ(sizes.figure->caption.find("not released"), std::string::npos);
}

TEST(RunsWithoutNoise, NothingElseToDrawIsSaid) {
  const auto store = without_noise("fashion-mnist");
  auto request = kProbes;
  request["epsilons"] = json::array{3};
  const auto nothing = drawn_of(*store, request, false);
  EXPECT_FALSE(nothing.figure);
  EXPECT_THAT(nothing.why, HasSubstr("--confidential"));
}

TEST(RunsWithoutNoise, RawLossesAreDrawnOfPublicDataOrWhereConfidential) {
  const auto confidential = drawn_of(*without_noise("fashion-mnist"), kProbes, true);
  ASSERT_TRUE(confidential.figure);
  EXPECT_EQ(confidential.figure->boxes.size(), 8u);
  const auto open = drawn_of(*without_noise("synthetic"), kProbes, false);
  ASSERT_TRUE(open.figure);
  EXPECT_EQ(open.figure->boxes.size(), 8u);
  EXPECT_TRUE(has_text(*open.figure, "ε = 3, step"));
}

// Five losses of one run, drawn under a controller of these options.
const Line* parabola_of_five(const json::object& options, Figure& figure) {
  auto store = *results::Store::in_memory();
  const auto change = [&](results::TrialRecord& trial, auto& steps) {
    if (trial.id != "trial-free-3-1-0") return;
    trial.config["controller"] = {{"name", "gen"}, {"options", options}};
    const std::array x = {0.0, 0.1, -0.1, 0.2, -0.2}, losses = {2.0, 1.5, 2.7, 1.9, 3.9};
    auto& scalars = steps[0].scalars;
    for (std::size_t k = 0; k < x.size(); ++k) {
      scalars["probe_x." + std::to_string(k)] = x[k];
      scalars["probe_loss." + std::to_string(k)] = losses[k];
    }
    scalars["G"] = 5, scalars["H"] = 50;
  };
  EXPECT_TRUE(grid::Maker(*store, change).fill({}));
  auto request = kProbes;
  request["options"] = {{"at", {0}}, {"seed", 1}};
  request["epsilons"] = json::array{3};
  figure = *drawn_of(*store, request, false).figure;
  return line_of(figure.boxes[0], "#0072B2");
}

TEST(ProbeFit, AParabolaPassesThroughTheLossAtTheWeightsUnlessItsInterceptWasFitted) {
  const auto at_zero = [](const Line& line) {
    for (std::size_t i = 1; i < line.points.size(); ++i) {
      const auto &a = line.points[i - 1], &b = line.points[i];
      if (a.x <= 0 && b.x >= 0) return a.y + (b.y - a.y) * -a.x / (b.x - a.x);
    }
    return 0.0;
  };
  Figure figure;
  const auto* fixed = parabola_of_five({{"pairs", 2}}, figure);
  ASSERT_TRUE(fixed != nullptr);
  EXPECT_NEAR(at_zero(*fixed), 2, 1e-2);
  const auto* free = parabola_of_five({{"pairs", 2}, {"intercept", "free"}}, figure);
  ASSERT_TRUE(free != nullptr);
  // The mean loss 2.4 less the mean of H x^2 / 2 = .5.
  EXPECT_NEAR(at_zero(*free), 1.9, 1e-2);
}

TEST(ProbeFit, ARejectedFitIsSaidToBe) {
  auto store = *results::Store::in_memory();
  const auto change = [](const results::TrialRecord& trial, auto& steps) {
    if (trial.id == "trial-free-3-1-0") steps[15].scalars["H"] = -1;
  };
  ASSERT_TRUE(grid::Maker(*store, change).fill({}));
  auto request = kProbes;
  request["epsilons"] = json::array{3};
  request["options"] = {{"at", {0, 15}}, {"seed", 1}};
  const auto drawn = drawn_of(*store, request, false);
  ASSERT_TRUE(drawn.figure);
  EXPECT_TRUE(has_text(*drawn.figure, "step 15, fit rejected"));
  EXPECT_FALSE(has_text(*drawn.figure, "step 0, fit rejected"));
}

TEST(Signal, IsTheMedianOfAbsoluteValuesAtTheSizeOfThePanel) {
  auto store = *results::Store::in_memory();
  const auto change = [](results::TrialRecord& trial, auto& steps) {
    if (!trial.id.starts_with("trial-free-")) return;
    const double seed = trial.id.ends_with("-1-0") ? 1 : 0;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      steps[t].scalars["slope_to_noise"] = (t % 2 == 0 ? 1 : -1) * (1 + seed);
      steps[t].scalars["curvature_to_noise"] = t < 10 ? 100 : 4;
    }
  };
  ASSERT_TRUE(grid::Maker(*store, change).fill({}));
  const auto drawn = drawn_of(*store, {{"kind", "signal"}, {"name", "s"}, {"epsilons", {3}}}, false);
  ASSERT_TRUE(drawn.figure) << drawn.why;
  ASSERT_EQ(drawn.figure->boxes.size(), 2U);
  const auto& slope = drawn.figure->boxes[0].lines;  // noise alone, and the row
  const auto& curvature = drawn.figure->boxes[1].lines;
  ASSERT_TRUE(slope.size() == 2 && curvature.size() == 2);
  ASSERT_EQ(slope[1].points.size(), 1U);
  const auto& point = slope[1].points[0];
  EXPECT_EQ(point.x, 785);
  EXPECT_EQ(point.y, 1.5) << "of two seeds";
  EXPECT_EQ(point.low, 1);
  EXPECT_EQ(point.high, 2);
  EXPECT_EQ(curvature[1].points[0].y, 4);
  EXPECT_THAT(drawn_of(*store, {{"kind", "signal"}, {"name", "s"}, {"rows", {"DPSGD"}}}, false).why,
              HasSubstr("slope_to_noise"));
}

TEST_F(Kinds, EpsilonOverStepsEndsAtTheRunsPrice) {
  const auto drawn = figure({{"kind", "epsilon-steps"},
                             {"name", "epsilon-steps"},
                             {"rows", {"free", "search"}},
                             {"options", {{"points", 4}}}});
  ASSERT_EQ(drawn.boxes.size(), 2u);
  const auto& points = drawn.boxes[0].lines[0].points;
  ASSERT_EQ(points.size(), 4u);
  const auto price =
      accounting::report_epsilon({.events = {accounting::poisson_gaussian(0.05, 2.4, 60)}}, 1e-5);
  EXPECT_DOUBLE_EQ(points.back().y, price->epsilon);
  EXPECT_EQ(points.back().x, 60);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GT(points[i].y, points[i - 1].y);
}

TEST_F(Kinds, TuningCostBeginsAtTheRunItself) {
  const auto drawn = figure({{"kind", "tuning-cost"},
                             {"name", "tuning-cost"},
                             {"rows", {"free"}},
                             {"epsilons", {3}},
                             {"options", {{"most", 50}}}});
  ASSERT_EQ(drawn.boxes.size(), 1u);
  const auto& sum = drawn.boxes[0].lines[0].points;
  const auto price =
      accounting::report_epsilon({.events = {accounting::poisson_gaussian(0.05, 1.2, 60)}}, 1e-5);
  EXPECT_EQ(sum.front().x, 1);
  EXPECT_NEAR(sum.front().y, price->epsilon, 1e-3 * price->epsilon);
  EXPECT_EQ(sum.back().x, 50);
  EXPECT_GT(sum.back().y, drawn.boxes[0].lines[1].points.back().y)
      << "a private selection of fifty is cheaper";
}

TEST_F(Kinds, AccuracyOfTheLossShowsTheRowsItNames) {
  const auto drawn = figure({{"kind", "accuracy"},
                             {"name", "loss-epsilon"},
                             {"rows", {"free", "search"}},
                             {"options", {{"metric", "loss"}}}});
  ASSERT_EQ(drawn.boxes.size(), 1u);
  ASSERT_EQ(drawn.boxes[0].lines.size(), 2u);
  const auto loss = [](double accuracy) { return 3 * std::exp(-accuracy / 30); };
  EXPECT_NEAR(drawn.boxes[0].lines[1].points[1].y, (loss(83.5) + loss(83.7)) / 2, 1e-9);
  EXPECT_EQ(drawn.legend.size(), 2u);
}

TEST_F(Kinds, AccuracyMayShowASettingOfTheReportedRuns) {
  const auto drawn = figure({{"kind", "accuracy"},
                             {"name", "steps-epsilon"},
                             {"rows", {"free"}},
                             {"options", {{"setting", "steps * sample_rate"}}}});
  ASSERT_EQ(drawn.boxes.size(), 1u);
  ASSERT_EQ(drawn.boxes[0].lines.size(), 1u);
  for (const auto& point : drawn.boxes[0].lines[0].points) EXPECT_NEAR(point.y, 60 * 0.05, 1e-9);
  const auto has_label = [](const auto& text) { return text.text == "steps * sample_rate"; };
  EXPECT_TRUE(std::ranges::any_of(drawn.texts, has_label));
}

TEST(SpecFigures, AreThoseThatTheSpecListsAndTheRestIsNamed) {
  auto store = *results::Store::in_memory();
  const json::array figures{
      {{"kind", "heat-map"}, {"name", "one"}, {"rows", {"DPSGD"}}, {"options", json::object{}}},
      {{"kind", "box"}, {"name", "two"}, {"rows", {"selection"}}, {"options", json::object{}}}};
  ASSERT_TRUE(grid::Maker(*store).fill(figures));
  const auto closed = figures_of(*store, *results::build_table(*store, "grid"));
  ASSERT_TRUE(closed);
  ASSERT_EQ(closed->figures.size(), 1u);
  EXPECT_EQ(closed->figures[0].name, "one");
  ASSERT_EQ(closed->left_out.size(), 1u);
  EXPECT_EQ(closed->left_out[0].name, "two");
  const auto open = figures_of(*store, *results::build_table(*store, "grid", {.confidential = true}));
  ASSERT_TRUE(open && open->figures.size() == 2);
  for (const auto& figure : open->figures) {
    EXPECT_THAT(gnuplot_script(figure, FileKind::svg, "x.svg"), HasSubstr("CONFIDENTIAL"));
    expect_on_canvas(figure);
  }
}

TEST(ColourScale, GrowsLighterEvenInGrey) {
  double last = -1;
  for (const auto& colour : scale_colours(false)) {
    const long all = std::strtol(colour.c_str() + 1, nullptr, 16);
    const double grey =
        0.299 * double(all >> 16 & 255) + 0.587 * double(all >> 8 & 255) + 0.114 * double(all & 255);
    EXPECT_GT(grey, last) << colour;
    last = grey;
  }
  EXPECT_TRUE(is_dark(scale_colour(0)));
  EXPECT_FALSE(is_dark(scale_colour(1)));
  EXPECT_EQ(tint("#000000", 0.5), "#808080");
}

// Every kind that a spec may name can be drawn, and has a section in the room's README with its
// options.
TEST(FigureKinds, EachIsBuiltAndDescribed) {
  const auto readme = read_file(std::string(HYFREEDP_SOURCE_DIR) + "/plots/README.md");
  ASSERT_TRUE(readme);
  auto store = *results::Store::in_memory();
  ASSERT_TRUE(grid::Maker(*store).fill({}));
  const auto table = *results::build_table(*store, "grid");
  for (const auto& kind : results::figure_kinds()) {
    const auto request = request_of({{"kind", kind.name}, {"name", kind.name}, {"rows", {"free"}}});
    const auto built = build_figure(
        {.store = *store, .table = table, .spec = *results::spec_of(**store->spec("grid"))}, request);
    EXPECT_TRUE(built) << kind.name;
    const auto row = readme->find("| `" + kind.name + "` |");
    ASSERT_NE(row, std::string::npos) << kind.name << " is not in plots/README.md";
    const auto line = readme->substr(row, readme->find('\n', row) - row);
    for (const auto& option : kind.options)
      EXPECT_THAT(line, HasSubstr("`" + option.name + "`")) << kind.name;
  }
}

}  // namespace kinds_test
}  // namespace hyfreedp::plots
