// A spec's `figures`: what is stored, and every mistake with its line and a way out.
#include "harness/runner/spec/spec_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/table/figure_spec.h"

namespace hyfreedp::runner {
namespace {

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

}  // namespace
}  // namespace hyfreedp::runner
