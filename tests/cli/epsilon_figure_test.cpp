// The epsilon figures as data: what they range over, what stands out, and that it all lies on the
// canvas.
#include "harness/cli/epsilon/epsilon_figure.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "harness/cli/epsilon/epsilon_boxes.h"

namespace hyfreedp::cli {
namespace epsilon_figure_test {

using accounting::Events;
using accounting::Neighbouring;

constexpr double kDelta = 1e-5;

void expect_on_canvas(const plots::Figure& figure) {
  for (const auto& box : figure.boxes) {
    EXPECT_LE(box.right, figure.legend_left);
    EXPECT_LE(box.top, figure.height);
    for (const auto& line : box.lines) {
      for (const auto& point : line.points) {
        EXPECT_GE(point.x, box.x.from);
        EXPECT_LE(point.x, box.x.to);
        EXPECT_GE(point.y, box.y.from);
        EXPECT_LE(point.y, box.y.to);
      }
    }
    EXPECT_FALSE(box.x.ticks.empty());
    EXPECT_FALSE(box.y.ticks.empty());
  }
  for (const auto& text : figure.texts) {
    EXPECT_GT(text.y, 0);
    EXPECT_LT(text.y, figure.height);
  }
}

bool has_entry(const plots::Figure& figure, const std::string& title) {
  return std::any_of(figure.legend.begin(), figure.legend.end(),
                     [&](const auto& entry) { return entry.title.find(title) != std::string::npos; });
}

// The lines of a box: curves with many points, marks with one.
std::vector<plots::Point> marks(const plots::Box& box) {
  std::vector<plots::Point> points;
  for (const auto& line : box.lines) {
    if (line.markers) points.push_back(line.points.at(0));
  }
  return points;
}

plots::Figure drawn(std::vector<EpsilonBox> boxes) {
  const auto figure = epsilon_figure({.title = "title", .delta = kDelta, .boxes = std::move(boxes)});
  EXPECT_TRUE(figure) << figure.error().message;
  expect_on_canvas(*figure);
  return *figure;
}

TEST(EpsilonFigure, AGaussianOverStepsAndNoise) {
  const Events events{Neighbouring::add_remove, {accounting::poisson_gaussian(0.02, 1.6, 250)}};
  const double epsilon = accounting::epsilon_pld(events, kDelta)->epsilon;
  const auto figure =
      drawn(gaussian_boxes(0.02, 1.6, 250, Neighbouring::add_remove, {.epsilon = epsilon, .title = "here"}));
  ASSERT_EQ(figure.boxes.size(), 2u);
  const auto& steps = figure.boxes[0].lines.at(0);
  EXPECT_FALSE(steps.band) << "too narrow to be seen";
  EXPECT_EQ(steps.points.front().x, 1);
  EXPECT_EQ(steps.points.back().x, 250);
  EXPECT_EQ(steps.points.back().y, epsilon);
  EXPECT_LE(*steps.points.back().low, epsilon);
  for (std::size_t i = 1; i < steps.points.size(); ++i) {
    EXPECT_EQ(steps.points[i].x, std::round(steps.points[i].x));
    EXPECT_GT(steps.points[i].y, steps.points[i - 1].y);
  }
  const auto& noises = figure.boxes[1].lines.at(0);
  EXPECT_NEAR(noises.points.front().x, 0.8, 1e-9);
  EXPECT_NEAR(noises.points.back().x, 3.2, 1e-9);
  EXPECT_TRUE(figure.boxes[1].y.logarithmic);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(marks(figure.boxes[i]).size(), 1u);
    EXPECT_EQ(marks(figure.boxes[i])[0].x, i == 0 ? 250 : 1.6);
    EXPECT_EQ(marks(figure.boxes[i])[0].y, epsilon);
    // RDP is above PLD.
    const auto& rdp = figure.boxes[i].lines.at(1).points;
    ASSERT_EQ(rdp.size(), figure.boxes[i].lines[0].points.size());
    for (std::size_t j = 0; j < rdp.size(); ++j) {
      EXPECT_GT(rdp[j].y, figure.boxes[i].lines[0].points[j].y);
    }
  }
  EXPECT_TRUE(has_entry(figure, "PLD, upper bound"));
  EXPECT_TRUE(has_entry(figure, "RDP, upper bound"));
  EXPECT_TRUE(has_entry(figure, "here"));
  EXPECT_FALSE(has_entry(figure, "GDP"));
  EXPECT_FALSE(has_entry(figure, "band"));
}

TEST(EpsilonFigure, ALogarithmicAxisSaysSoAndHasThreeNumbers) {
  for (const double noise : {0.6, 1.6, 8.0, 40.0}) {
    const auto figure =
        drawn(gaussian_boxes(0.02, noise, 250, Neighbouring::add_remove, {.epsilon = 1, .title = "here"}));
    std::vector<std::string> titles;
    for (const auto& text : figure.texts) {
      if (text.upright) titles.push_back(text.text);
    }
    ASSERT_EQ(titles.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(titles[i].find("(log scale)") != std::string::npos, figure.boxes[i].y.logarithmic)
          << titles[i];
      EXPECT_GE(figure.boxes[i].y.ticks.size(), 3u) << noise;
    }
    EXPECT_TRUE(figure.boxes[1].y.logarithmic);
  }
}

TEST(EpsilonFigure, OneStepHasItsPlace) {
  const auto figure =
      drawn(gaussian_boxes(1, 1, 1, Neighbouring::add_remove, {.epsilon = 4.377, .title = "here"}));
  EXPECT_EQ(figure.boxes[0].x.ticks.size(), 1u);
}

TEST(EpsilonFigure, AFileIsItselfAtOne) {
  using accounting::Event;
  const Event step = accounting::poisson_gaussian(0.02, 1.6, 10);
  const Events events{Neighbouring::add_remove, {step, Event{accounting::Repeat{{step}, 3}, {}}}};
  const double epsilon = accounting::epsilon_pld(events, kDelta)->epsilon;
  const auto figure = drawn(events_boxes(events, {.epsilon = epsilon, .title = "here"}));
  for (const auto& box : figure.boxes) {
    ASSERT_EQ(marks(box).size(), 1u);
    EXPECT_EQ(marks(box)[0].x, 1);
    const auto& points = box.lines.at(0).points;
    const auto at_one =
        std::find_if(points.begin(), points.end(), [](const auto& point) { return point.x == 1; });
    ASSERT_NE(at_one, points.end());
    EXPECT_NEAR(at_one->y, epsilon, 1e-4 * epsilon);
  }
  const Events thrice{Neighbouring::add_remove, {accounting::poisson_gaussian(0.02, 1.6, 120)}};
  EXPECT_NEAR(figure.boxes[0].lines[0].points.at(2).y, accounting::epsilon_pld(thrice, kDelta)->epsilon,
              1e-4);
  const Events noisier{Neighbouring::add_remove, {accounting::poisson_gaussian(0.02, 3.2, 40)}};
  EXPECT_NEAR(figure.boxes[1].lines[0].points.back().y, accounting::epsilon_pld(noisier, kDelta)->epsilon,
              1e-4);
}

TEST(EpsilonFigure, SelectionHasNoPldCurve) {
  accounting::Selection selection{.mean = 10, .base = {accounting::poisson_gaussian(0.02, 1.6, 10)}};
  const auto figure =
      drawn(events_boxes({Neighbouring::add_remove, {{selection, {}}}}, {.epsilon = 1, .title = "here"}));
  EXPECT_FALSE(has_entry(figure, "PLD"));
  EXPECT_TRUE(has_entry(figure, "RDP"));
}

TEST(EpsilonFigure, ASplitIsPricedAsExecuted) {
  mechanism::ProbeSplitRequest request{.plan = mechanism::probing_plan(0.02, 10),
                                       .steps = 250,
                                       .epsilon = 3,
                                       .delta = kDelta,
                                       .mode = mechanism::ProbeAccounting::paper};
  const auto split = mechanism::split_budget(request);
  ASSERT_TRUE(split);
  const auto figure =
      drawn(split_boxes(request, *split,
                        {{.epsilon = split->sound.epsilon, .title = "spent"},
                         {.epsilon = split->claimed_epsilon, .title = "claimed", .claim = true}}));
  for (const auto& box : figure.boxes) {
    ASSERT_EQ(marks(box).size(), 2u);
    EXPECT_GT(marks(box)[0].y, marks(box)[1].y + 1);
  }
  const auto& steps = figure.boxes[0].lines.at(0).points;
  for (const auto& point : steps) EXPECT_EQ(std::fmod(point.x, 10), 0);
  EXPECT_NEAR(steps.back().y, split->sound.epsilon, 1e-4 * split->sound.epsilon);
}

TEST(EpsilonFigure, NothingFiniteIsAnError) {
  const auto figure = epsilon_figure({.title = "title",
                                      .delta = kDelta,
                                      .boxes = gaussian_boxes(1, 1e-200, 5, Neighbouring::add_remove,
                                                              {.epsilon = INFINITY, .title = "here"})});
  ASSERT_FALSE(figure);
  EXPECT_NE(figure.error().message.find("nothing to draw"), std::string::npos);
}

}  // namespace epsilon_figure_test
}  // namespace hyfreedp::cli
