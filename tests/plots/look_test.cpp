// What a spec says of a figure's look: size, font, colours, labels and ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "plots/kinds.h"
#include "results/store/records.h"
#include "tests/plots/grid_database.h"
#include "tests/plots/pictures.h"

namespace hyfreedp::plots {
namespace look_test {

using testing::HasSubstr;

constexpr double kPixelsPerInch = 96;

class Look : public grid::Database {
 protected:
  static Outcome outcome(const std::string& kind, const json::object& look,
                         const json::object& options = {}) {
    json::object figure{{"kind", kind}, {"name", "look-" + kind}, {"options", options}};
    for (const auto& member : look) figure[member.key()] = member.value();
    const auto request =
        results::figure_requests({from_json<spec::Figure>(figure, "figure").value()}).front();
    auto built = build_figure({.store = *store_, .table = table_, .spec = spec_}, request);
    EXPECT_TRUE(built) << built.error().message;
    return built ? std::move(*built) : Outcome{};
  }
  static Figure figure(const std::string& kind, const json::object& look, const json::object& options = {}) {
    auto built = outcome(kind, look, options);
    EXPECT_TRUE(built.figure) << kind << ": " << built.why;
    if (!built.figure) return {};
    for (const auto& box : built.figure->boxes) EXPECT_LE(box.right, built.figure->width) << kind;
    check_picture(*built.figure);
    return std::move(*built.figure);
  }
};

const std::vector<std::string> kAll = {"accuracy", "curves", "heat-map",      "box",        "candidates",
                                       "pareto",   "bars",   "epsilon-steps", "tuning-cost"};

TEST_F(Look, EveryKindTakesTheSizeThatIsAskedFor) {
  for (const auto& kind : kAll) {
    const json::object rows =
        kind == "heat-map" ? json::object{{"rows", {"DPSGD"}}} : json::object{{"rows", {"free", "search"}}};
    for (const auto& [width, height] : {std::pair{6.5, 4.0}, std::pair{9.0, 6.0}}) {
      auto look = rows;
      look["size"] = {width, height};
      const auto drawn = figure(kind, look);
      EXPECT_NEAR(drawn.width * drawn.scale, width * kPixelsPerInch, 2) << kind;
      EXPECT_NEAR(drawn.height * drawn.scale, height * kPixelsPerInch, 2) << kind;
      EXPECT_LE(legend_height(drawn.legend, drawn.legend_columns), drawn.legend_top) << kind;
    }
  }
}

TEST_F(Look, ASmallSizeAsksForASmallFontOrSaysSo) {
  const json::object small{{"size", {3.3, 2.6}}, {"rows", {"free", "search"}}, {"epsilons", {3}}};
  auto look = small;
  look["font_size"] = 7;
  const auto drawn = figure("candidates", look);
  EXPECT_NEAR(drawn.width * drawn.scale, 3.3 * kPixelsPerInch, 2);
  EXPECT_NEAR(drawn.scale, 7.0 / 8, 1e-12);
  look = small;
  look["size"] = {0.8, 0.8};
  EXPECT_THAT(outcome("candidates", look).why, HasSubstr("size of 0.8 by 0.8 inches has no room"));
}

TEST_F(Look, FontAndItsSizeAreTheTerminals) {
  const auto drawn = figure("candidates", {{"font", "Times"}, {"font_size", 12}, {"rows", {"free"}}});
  const auto plain = figure("candidates", {{"rows", {"free"}}});
  EXPECT_EQ(drawn.width, plain.width) << "all of it grows";
  for (const auto& [kind, font] :
       {std::pair{FileKind::svg, "font 'Times,18'"}, std::pair{FileKind::png, "font 'Times,18'"},
        std::pair{FileKind::pdf, "font 'Times,12'"}}) {
    EXPECT_THAT(gnuplot_script(drawn, kind, "x"), HasSubstr(font));
  }
  EXPECT_THAT(gnuplot_script(plain, FileKind::svg, "x"), HasSubstr("font 'sans-serif,12'"));
  EXPECT_THAT(gnuplot_script(plain, FileKind::pdf, "x"), HasSubstr("font 'sans,8'"));
  EXPECT_THAT(gnuplot_script(drawn, FileKind::svg, "x"), HasSubstr("font 'Times Bold'"));
  EXPECT_THAT(gnuplot_script(drawn, FileKind::pdf, "x"), HasSubstr("font 'Times:Bold'"));
  EXPECT_THAT(gnuplot_script(plain, FileKind::pdf, "x"), HasSubstr("font ':Bold'"));
  EXPECT_THAT(gnuplot_script(plain, FileKind::svg, "x"), HasSubstr("font 'sans-serif Bold'"));
}

TEST_F(Look, RowsHaveTheColoursThatAreAskedFor) {
  const json::object colours{{"free", "#123456"}, {"search", "#654321"}};
  for (const auto& kind : {"accuracy", "curves", "candidates", "pareto", "bars", "epsilon-steps", "box"}) {
    const auto drawn = figure(
        kind, {{"colours", colours}, {"rows", {"free", "search"}}},
        kind == std::string("curves") ? json::object{{"quantities", "test accuracy"}} : json::object{});
    std::set<std::string> seen;
    for (const auto& box : drawn.boxes) {
      for (const auto& line : box.lines) seen.insert(line.style.colour);
      for (const auto& patch : box.patches) seen.insert(patch.colour);
    }
    if (kind == std::string("bars")) continue;  // tints
    // The free row has no rate to stand over.
    EXPECT_EQ(seen.contains("#123456"), kind != std::string("pareto")) << kind;
    EXPECT_TRUE(seen.contains("#654321")) << kind;
  }
}

TEST_F(Look, LabelsAndRangesAreTheSpecs) {
  const auto drawn = figure("candidates", {{"rows", {"free", "search"}},
                                           {"x_label", "iteration"},
                                           {"y_label", "accuracy [%]"},
                                           {"x_range", {10, 50}},
                                           {"y_range", {60, 90}}});
  std::set<std::string> texts;
  for (const auto& text : drawn.texts) texts.insert(text.text);
  EXPECT_TRUE(texts.contains("iteration"));
  EXPECT_TRUE(texts.contains("accuracy [%]"));
  EXPECT_FALSE(texts.contains("step"));
  for (const auto& box : drawn.boxes) {
    EXPECT_EQ(box.x.from, 10);
    EXPECT_EQ(box.x.to, 50);
    EXPECT_EQ(box.y.from, 60);
    EXPECT_EQ(box.y.to, 90);
    for (const auto& tick : box.y.ticks) EXPECT_TRUE(tick.at >= 60 && tick.at <= 90);
  }
  EXPECT_THAT(drawn.caption, HasSubstr("Shown is x from 10 to 50 alone. Shown is y from 60 to 90 alone."));
  const auto accuracy = figure("accuracy", {{"y_range", {0, 100}}, {"x_label", "ε"}, {"y_label", "acc"}});
  for (const auto& box : accuracy.boxes) {
    EXPECT_EQ(box.y.from, 0);
    EXPECT_EQ(box.y.to, 100);
  }
}

TEST_F(Look, ALogarithmicAxisBeginsAboveZero) {
  const auto built = outcome("curves", {{"rows", {"free"}}, {"y_range", {0, 1}}},
                             {{"quantities", "eta"}, {"scale", "logarithmic"}});
  EXPECT_FALSE(built.figure);
  EXPECT_THAT(built.why, HasSubstr("its axis is logarithmic, and y_range does not begin above 0"));
}

}  // namespace look_test
}  // namespace hyfreedp::plots
