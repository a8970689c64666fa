// A spec's `figures`: what is stored, and every mistake with its line and a way out.
#include "harness/runner/spec/spec_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/table/figure_spec.h"

namespace hyfreedp::runner {
namespace spec_figures_test {

using testing::HasSubstr;

const std::vector<spec::Panel> kPanels{
    {.id = "linear", .rows = {{.id = "sgd-1", .group = "sgd"}, {.id = "sgd-2", .group = "sgd"}}},
    {.id = "mlp", .rows = {{.id = "plain"}}}};

Result<std::vector<spec::Figure>> read(const std::string& yaml) {
  const auto document = Entry::parse("spec.yaml", yaml);
  if (!document) return document.error();
  Problems problems("spec.yaml");
  auto figures = read_figures(*document->find("figures"), &kPanels, problems);
  if (!problems.empty()) return problems.error();
  EXPECT_TRUE(figures);
  return std::move(*figures);
}

std::string complaint(const std::string& figure) {
  const auto figures = read("figures:\n  - " + figure + "\n");
  return figures ? "" : figures.error().message;
}

TEST(SpecFigures, StoreWhatIsAskedForAndNoDefaults) {
  const auto figures = read(
      "figures:\n"
      "  - {kind: heat-map, name: grid, title: A grid, rows: [sgd, plain], panels: linear, epsilons: [1, "
      "inf], x: rate,\n"
      "     metric: loss}\n"
      "  - kind: accuracy\n");
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(
      json::serialize(as_json(*figures)),
      R"([{"kind":"heat-map","name":"grid","title":"A grid","rows":["sgd","plain"],"panels":["linear"],)"
      R"("epsilons":[1E0,"inf"],"options":{"metric":"loss"}},{"kind":"accuracy","name":"accuracy","options":{}}])");
}

TEST(SpecFigures, AreReadBackWithEveryDefaultFilledIn) {
  const auto figures = read("figures: [{kind: heat-map, rows: [sgd], epsilons: [1, inf], metric: loss}]\n");
  ASSERT_TRUE(figures);
  const auto requests = results::figure_requests(*figures);
  ASSERT_EQ(requests.size(), 1u);
  const auto& request = requests.front();
  EXPECT_EQ(string_or(request.options, "metric", ""), "loss");
  EXPECT_EQ(string_or(request.options, "y", ""), "clipping_constant");
  EXPECT_TRUE(request.wants_row("sgd-1", "sgd"));
  EXPECT_FALSE(request.wants_row("plain", ""));
  EXPECT_TRUE(request.wants_panel("mlp"));
  EXPECT_TRUE(request.wants_epsilon(std::nullopt));
  EXPECT_FALSE(request.wants_epsilon(3.0));
}

TEST(SpecFigures, MistakesNameTheirLineAndTheNearestName) {
  EXPECT_THAT(complaint("{kind: heatmap}"), HasSubstr("spec.yaml:2"));
  EXPECT_THAT(complaint("{kind: heatmap}"), HasSubstr("Did you mean 'heat-map'?"));
  EXPECT_THAT(complaint("{name: x}"), HasSubstr("'kind' is missing"));
  EXPECT_THAT(complaint("{kind: box, rows: [plane]}"), HasSubstr("Did you mean 'plain'?"));
  EXPECT_THAT(complaint("{kind: box, panels: [lineal]}"), HasSubstr("Did you mean 'linear'?"));
  EXPECT_THAT(complaint("{kind: box, metrik: loss}"), HasSubstr("'metric'"));
  EXPECT_THAT(complaint("{kind: box, metric: los}"), HasSubstr("Did you mean 'loss'?"));
  EXPECT_THAT(complaint("{kind: bars, relative_to: plane}"), HasSubstr("Did you mean 'plain'?"));
  EXPECT_THAT(complaint("{kind: box, rows: []}"), HasSubstr("leave it out for all"));
  EXPECT_THAT(complaint("{kind: box}\n  - {kind: box}"), HasSubstr("another 'name'"));
  EXPECT_THAT(complaint("{kind: box, name: ../up}"), HasSubstr("must be a name"));
}

TEST(SpecFigures, MaySayHowTheyLook) {
  const auto figures = read(
      "figures:\n  - {kind: candidates, size: [3.3, 2.5], font: Times, font_size: 7, x_label: iteration, "
      "y_label: '', x_range: [0, 10], y_range: [1e-3, 1], colours: {sgd: '#D55E00', plain: '#0072b2'}}\n");
  ASSERT_TRUE(figures) << figures.error().message;
  const json::object expected{{"kind", "candidates"},
                              {"name", "candidates"},
                              {"options", json::object{}},
                              {"size", {3.3, 2.5}},
                              {"font", "Times"},
                              {"font_size", 7.0},
                              {"x_label", "iteration"},
                              {"y_label", ""},
                              {"x_range", {0.0, 10.0}},
                              {"y_range", {1e-3, 1.0}},
                              {"colours", {{"plain", "#0072b2"}, {"sgd", "#D55E00"}}}};
  EXPECT_EQ(canonical_json(as_json(figures->front())), canonical_json(expected));
  EXPECT_EQ(from_json<spec::Figure>(expected, "f")->look.colours.size(), 2u);
  const auto plain = as_json(read("figures: [{kind: box}]\n")->front());
  EXPECT_EQ(plain, (json::object{{"kind", "box"}, {"name", "box"}, {"options", json::object{}}}))
      << "what is not said changes no hash";
}

TEST(SpecFigures, AWrongLookIsNamed) {
  EXPECT_THAT(complaint("{kind: box, size: 3}"), HasSubstr("[width, height] of the whole figure in inches"));
  EXPECT_THAT(complaint("{kind: box, size: [3, 0]}"), HasSubstr("must be above 0"));
  EXPECT_THAT(complaint("{kind: box, font_size: 1}"), HasSubstr("must be from 4 to 30 points"));
  EXPECT_THAT(complaint("{kind: box, font: 'Times,12'}"), HasSubstr("the name of a family alone"));
  EXPECT_THAT(complaint("{kind: box, x_range: [0, 1]}"), HasSubstr("whose x axis is not a range"));
  EXPECT_THAT(complaint("{kind: box, y_range: [1, 0]}"), HasSubstr("the smaller first"));
  EXPECT_THAT(complaint("{kind: box, y_range: [1, .inf]}"), HasSubstr("must be [from, to]"));
  EXPECT_THAT(complaint("{kind: heat-map, x: rate, y: steps, colours: {plain: '#000000'}}"),
              HasSubstr("is not for figures of kind 'heat-map'"));
  EXPECT_THAT(complaint("{kind: box, colours: {plan: '#000000'}}"), HasSubstr("Did you mean 'plain'?"));
  EXPECT_THAT(complaint("{kind: box, colours: {plain: red}}"),
              HasSubstr("such as '#D55E00' (in quotes), not 'red'"));
}

}  // namespace spec_figures_test
}  // namespace hyfreedp::runner
