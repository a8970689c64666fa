#include "plots/figures.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "harness/base/files.h"
#include "plots/accuracy_figure.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/palette.h"
#include "tests/results/fake_database.h"
#include "tests/results/small_database.h"

namespace hyfreedp::plots {
namespace figures_test {

// Built once for all tests of the suite.
class Figures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (store_) return;
    store_ = *results::Store::in_memory();
    const auto filled = fake::fill(*store_);
    ASSERT_TRUE(filled) << filled.error().message;
    table_ = *results::build_table(*store_, "fake");
    figures_ = figures_of(*store_, table_)->figures;
  }
  static inline std::unique_ptr<results::Store> store_;
  static inline results::TableModel table_;
  static inline std::vector<Figure> figures_;
};

TEST_F(Figures, AccuracyStepSizeAndLoss) {
  ASSERT_EQ(figures_.size(), 3u);
  EXPECT_EQ(figures_[0].name, "accuracy");
  EXPECT_EQ(figures_[1].name, "step_size");
  EXPECT_EQ(figures_[2].name, "test_loss");
}

TEST_F(Figures, EveryBoxAndTextIsOnTheCanvas) {
  for (const auto& figure : figures_) {
    for (const auto& box : figure.boxes) {
      EXPECT_GE(box.left, 0);
      EXPECT_GE(box.bottom, 0);
      EXPECT_LE(box.right, figure.width);
      EXPECT_LE(box.top, figure.height);
    }
    for (const auto& text : figure.texts) {
      EXPECT_GT(text.y, 0) << text.text;
      EXPECT_LT(text.y, figure.height) << text.text;
    }
    EXPECT_LE(legend_height(figure.legend), figure.legend_top) << figure.name;
  }
}

// Nothing is scored of texts whose prompts leave no room for a token.
TEST_F(Figures, AccuraciesThatAreNoNumbersAreLeftOut) {
  auto table = table_;
  const auto heights = [&] {
    std::vector<double> all;
    const auto figure = accuracy_figure(table);
    for (const auto& box : figure->boxes) all.push_back(box.y.to - box.y.from);
    return all;
  };
  auto& cells = table.panels.at(0).rows.at(0).cells;
  for (auto& cell : cells) cell.mean = std::nan("");
  for (const auto height : heights()) EXPECT_GT(height, 0);
  for (auto& panel : table.panels)
    for (auto& row : panel.rows)
      for (auto& cell : row.cells) cell.mean = std::nan("");
  EXPECT_FALSE(accuracy_figure(table));
}

TEST_F(Figures, AFewRowsFarBelowBreakTheAxis) {
  int breaks = 0;
  for (const auto& box : figures_[0].boxes) breaks += box.break_below;
  EXPECT_EQ(breaks, 2);
  for (const auto& box : figures_[0].boxes) {
    if (!box.break_below) continue;
    EXPECT_GT(box.y.from, 65);
  }
}

TEST_F(Figures, ABreakCutsNoBarAndNoTickIsInBothParts) {
  for (const double sd : {0.1, 3.0, 6.0, 8.0, 15.0}) {
    auto table = table_;
    table.panels.resize(1);
    for (auto& row : table.panels[0].rows) {
      for (auto& cell : row.cells) {
        if (cell.sd) cell.sd = sd;
      }
    }
    const auto figure = accuracy_figure(table);
    ASSERT_TRUE(figure);
    const auto& boxes = figure->boxes;
    EXPECT_EQ(boxes.size(), sd < 5 ? 2u : 1u) << sd;
    for (const auto& line : boxes[0].lines) {
      for (const auto& point : line.points) {
        const bool whole = std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
          return point.low.value_or(point.y) >= box.y.from - 1e-9 &&
                 std::min(point.high.value_or(point.y), 100.0) <= box.y.to + 1e-9;
        });
        EXPECT_TRUE(whole) << sd << ": the bar around " << point.y << " is cut";
      }
    }
    if (boxes.size() < 2) continue;
    EXPECT_LT(boxes[0].y.ticks.back().at, boxes[1].y.ticks.front().at) << sd;
    EXPECT_LT(boxes[0].y.to, boxes[1].y.from) << sd;
  }
}

TEST_F(Figures, ErrorBarsAreOneSampleDeviation) {
  const auto& line = figures_[0].boxes[0].lines[0];
  const auto& cell = table_.panels[0].rows[0].cells[0];
  ASSERT_TRUE(line.points[0].low && cell.sd);
  EXPECT_DOUBLE_EQ(*line.points[0].low, cell.mean - *cell.sd);
  EXPECT_DOUBLE_EQ(*line.points[0].high, cell.mean + *cell.sd);
  EXPECT_TRUE(line.points.back().gap_before) << "the non-private arm is no further point of the curve";
}

TEST_F(Figures, EverySeedIsAMark) {
  const auto& panel = table_.panels[0];
  const auto& lines = figures_[0].boxes[0].lines;
  ASSERT_GT(lines.size(), panel.rows.size());
  const auto& marks = lines[panel.rows.size()];
  EXPECT_FALSE(marks.line);
  EXPECT_TRUE(marks.markers);
  std::vector<double> drawn, measured;
  for (const auto& point : marks.points) drawn.push_back(point.y);
  for (const auto& cell : panel.rows[0].cells) {
    if (cell.n < 2) continue;
    for (const auto& seed : cell.seeds) {
      if (seed.accuracy) measured.push_back(*seed.accuracy);
    }
  }
  EXPECT_GT(measured.size(), 3u);
  EXPECT_EQ(drawn, measured);
}

TEST_F(Figures, OnlyLearningRateFreeMethodsShowAStepSize) {
  std::set<std::string> titles;
  for (const auto& entry : figures_[1].legend) titles.insert(entry.title);
  EXPECT_EQ(titles, (std::set<std::string>{
                        "D-Adaptation (Adam)", "Prodigy", "HyFreeDP, same batch, paper accounting",
                        "HyFreeDP, same batch, folded", "HyFreeDP, separate batch", "HyFreeDP+ (ours)"}));
}

TEST_F(Figures, TheBandSpansTheSeedsAndTheLineIsTheirMedian) {
  const auto& cell = table_.panels[0].rows[5].cells[0];  // Prodigy: the scalar d
  std::vector<double> at_first_step;
  for (const auto& seed : cell.seeds)
    at_first_step.push_back((*store_->steps(seed.trial))[0].scalars.at("d"));
  std::sort(at_first_step.begin(), at_first_step.end());
  const auto& point = figures_[1].boxes[0].lines[1].points[0];
  EXPECT_DOUBLE_EQ(*point.low, at_first_step[0]);
  EXPECT_DOUBLE_EQ(point.y, at_first_step[1]);
  EXPECT_DOUBLE_EQ(*point.high, at_first_step[2]);
}

TEST(Figure, NothingToDrawIsNoFigure) {
  auto store = *results::Store::in_memory();
  ASSERT_TRUE(store->put_spec(small::spec()));
  const auto table = results::build_table(*store, "small");
  ASSERT_TRUE(table);
  EXPECT_TRUE(figures_of(*store, *table)->figures.empty());
}

TEST(Figure, TitlesCannotRunCommands) {
  Figure figure;
  figure.name = "x";
  figure.width = figure.height = 100;
  figure.texts.push_back(
      {1, 1, "it's `touch /tmp/x` \"quoted\"\nsystem('x')", Text::Align::left, false, false});
  const auto script = gnuplot_script(figure, "a.svg", "a.png");
  EXPECT_NE(script.find("'it''s `touch /tmp/x` \"quoted\" system(''x'')'"), std::string::npos) << script;
}

std::string colour_in(const std::vector<std::string>& methods, const std::string& method) {
  return MethodColours(methods).style(method, 0, 0).colour;
}

TEST(Palette, AMethodKeepsItsColourAndMethodsDiffer) {
  const std::vector<std::string> methods{"nondp-gs",      "dp-hyper",       "dp-hyper-simulated",
                                         "d-adaptation",  "prodigy",        "hyfreedp",
                                         "hyfreedp-plus", "linear-scaling", "dpadamwosm",
                                         "dog",           "dowg",           "random-search",
                                         "subset-tuning", "single-step",    "dpsgd",
                                         "dpmomentum",    "dpadam",         "adadp",
                                         "fixed-rate"};
  std::set<std::string> colours;
  for (const auto& method : methods) {
    EXPECT_EQ(colour_in({method}, method), MethodColours(methods).style(method, 2, 7).colour);
    colours.insert(colour_in(methods, method));
  }
  EXPECT_EQ(colours.size(), 19u);
  const MethodColours one({"hyfreedp"});
  EXPECT_NE(one.style("hyfreedp", 0, 0).dash, one.style("hyfreedp", 1, 0).dash);
}

// Nobody edits the palette for a new method (baselines/TEMPLATE.md), and yet no two lines of a
// table look alike.
TEST(Palette, NewMethodsHaveColoursOfTheirOwn) {
  std::vector<std::string> methods{"nondp-gs",      "dp-hyper",       "dp-hyper-simulated",
                                   "d-adaptation",  "prodigy",        "hyfreedp",
                                   "hyfreedp-plus", "linear-scaling", "dpadamwosm",
                                   "dog",           "dowg",           "random-search",
                                   "subset-tuning", "single-step",    "dpsgd",
                                   "dpmomentum",    "dpadam",         "adadp",
                                   "fixed-rate"};
  for (int i = 0; i < 12; ++i) methods.push_back("my-method-" + std::to_string(i));
  std::set<std::string> colours;
  for (const auto& method : methods) {
    colours.insert(colour_in(methods, method));
    // The order of a table's rows does not matter.
    EXPECT_EQ(colour_in({methods.rbegin(), methods.rend()}, method), colour_in(methods, method)) << method;
  }
  EXPECT_EQ(colours.size(), methods.size());
  EXPECT_NE(colour_in({"mine", "yours"}, "mine"), colour_in({"mine", "yours"}, "yours"));
  // More than there are colours: they begin again.
  for (int i = 12; i < 40; ++i) methods.push_back("my-method-" + std::to_string(i));
  for (const auto& method : methods) EXPECT_FALSE(colour_in(methods, method).empty()) << method;
}

TEST(Ticks, AreRoundAndInside) {
  const auto texts = [](const std::vector<Tick>& ticks) {
    std::vector<std::string> all;
    for (const auto& tick : ticks) all.push_back(tick.text);
    return all;
  };
  EXPECT_EQ(texts(linear_ticks(0, 249, 3)), (std::vector<std::string>{"0", "100", "200"}));
  EXPECT_EQ(texts(linear_ticks(84.2, 88.1, 6)), (std::vector<std::string>{"85", "86", "87", "88"}));
  EXPECT_EQ(texts(logarithmic_ticks(0.4, 2.5)), (std::vector<std::string>{"0.5", "1", "2"}));
  EXPECT_EQ(texts(logarithmic_ticks(1e-7, 1e-2)),
            (std::vector<std::string>{"10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"}));
}

TEST(StepSize, IsNamedByControllerOrOptimizer) {
  const auto config = [](const char* optimizer, const char* controller) {
    return json::object{{"optimizer", as_json(trial::Named{optimizer, {}})},
                        {"controller", as_json(trial::Named{controller, {}})}};
  };
  EXPECT_EQ(step_size_scalar(config("adamw", "hyfreedp-plus")), "eta");
  EXPECT_EQ(step_size_scalar(config("prodigy", "constant")), "d");
  EXPECT_FALSE(step_size_scalar(config("adamw", "constant")));
}

class Drawn : public Figures {
 protected:
  void SetUp() override {
    if (!find_program("gnuplot")) GTEST_SKIP() << kNoGnuplot;
    folder_ = std::filesystem::temp_directory_path() / ("hyfreedp-plots-" + std::to_string(::getpid()));
    auto drawn = draw(figures_, folder_.string());
    ASSERT_TRUE(drawn) << drawn.error().message;
    drawn_ = std::move(*drawn);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  std::vector<DrawnFigure> drawn_;
};

TEST_F(Drawn, PngsAreTwiceTheSizeAndSvgsAreWellFormed) {
  for (const auto& drawn : drawn_) {
    const auto png = read_file(drawn.png);
    ASSERT_TRUE(png);
    ASSERT_GT(png->size(), 1000u);
    EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
    const auto width = (static_cast<unsigned char>((*png)[18]) << 8) + static_cast<unsigned char>((*png)[19]);
    EXPECT_EQ(width, static_cast<int>(2 * drawn.figure.width));
    const auto svg = read_file(drawn.svg);
    ASSERT_TRUE(svg);
    EXPECT_NE(svg->find("</svg>"), std::string::npos);
    if (const auto xmllint = find_program("xmllint")) {
      const auto checked =
          must_succeed({.program = *xmllint, .arguments = {"--noout", "--nonet", drawn.svg}});
      EXPECT_TRUE(checked) << checked.error().message;
    } else {
      std::puts("SKIPPED: xmllint is not installed; Debian: apt-get install libxml2-utils");
    }
  }
}

TEST_F(Drawn, TheSameDataGivesTheSameBytes) {
  const auto first = *read_file(drawn_[0].svg);
  ASSERT_TRUE(draw(figures_, folder_.string()));
  EXPECT_EQ(*read_file(drawn_[0].svg), first);
}

TEST(Gnuplot, ItsAbsenceNamesThePackage) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto drawn = draw({Figure{}}, "/nowhere");
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(drawn);
  EXPECT_NE(drawn.error().message.find("gnuplot-nox"), std::string::npos);
}

}  // namespace figures_test
}  // namespace hyfreedp::plots
