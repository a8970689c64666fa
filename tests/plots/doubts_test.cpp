// What is doubtful of a figure is known before anything is trained.
#include "plots/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyfreedp::plots {
namespace doubts_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Run run_of(const std::string& controller) {
  Run run;
  run.panel = "one";
  run.row = "row";
  run.group = "row";
  run.epsilon = 3;
  run.config = {{"controller", {{"name", controller}, {"options", {{"lr", 0.1}}}}},
                {"optimizer", {{"name", "adamw"}, {"options", json::object{}}}},
                {"steps", 10}};
  return run;
}

std::vector<std::string> doubts(const std::string& kind, const json::object& options,
                                const std::string& controller = "constant") {
  auto requests = results::figure_requests({{.kind = kind, .name = kind, .options = options}});
  return doubts_of(requests.at(0), {run_of(controller)});
}

TEST(FigureDoubts, NameSettingsThatNoRunHas) {
  EXPECT_THAT(doubts("heat-map", {{"x", "rat"}, {"y", "rate * steps"}}), ElementsAre(HasSubstr("'rat'")));
  EXPECT_THAT(doubts("pareto", {{"x", "steps"}}), IsEmpty());
  EXPECT_THAT(doubts("pareto", {{"x", "rate * stepz"}}), ElementsAre(HasSubstr("'rate * stepz'")));
  EXPECT_THAT(doubts("accuracy", {{"setting", "size"}}), ElementsAre(HasSubstr("'size'")));
  EXPECT_THAT(doubts("accuracy", {}), IsEmpty());
  EXPECT_THAT(doubts("box", {{"marked", "rate=0.1, other=1"}}), ElementsAre(HasSubstr("'other'")));
  EXPECT_THAT(doubts("box", {{"starred", "rate"}}), ElementsAre(HasSubstr("rate")));
}

TEST(FigureDoubts, NameQuantitiesThatNothingStores) {
  EXPECT_THAT(doubts("curves", {{"quantities", "test acuracy, test loss, of_my_method"}}),
              ElementsAre(HasSubstr("'test acuracy'. Did you mean 'test accuracy'?")));
  EXPECT_THAT(doubts("curves", {{"quantities", "step-size"}}),
              ElementsAre(HasSubstr("chooses its step size")));
  EXPECT_THAT(doubts("curves", {{"quantities", "step-size"}}, "hyfreedp"), IsEmpty());
}

TEST(FigureDoubts, NameRowsThatMakeNoProbes) {
  EXPECT_THAT(doubts("probe-fit", {}), ElementsAre(HasSubstr("loss probes")));
  EXPECT_THAT(doubts("probe-fit", {}, "hyfreedp"), IsEmpty());
  auto other = results::figure_requests({{.kind = "probe-fit", .name = "p", .panels = {"two"}}});
  EXPECT_THAT(doubts_of(other.at(0), {run_of("constant")}), IsEmpty()) << "it is of no run that is known";
}

}  // namespace doubts_test
}  // namespace hyfreedp::plots
