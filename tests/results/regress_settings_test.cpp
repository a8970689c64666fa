// A method that makes something else of the same spec is found, whatever its results are.
#include "results/regress/regress_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/regress/regress_writers.h"
#include "tests/results/simulated_nights.h"

namespace hyfreedp::results {
namespace regress_settings_test {

using simulated::setting_at;
using simulated::Source;
using simulated::World;
using ::testing::HasSubstr;
using ::testing::Not;

// Two nights of one spec and noise seed whose results are equal; the second one's runs of row 0 are
// changed.
struct TwoNights {
  Night reference = Source(World{}).night();
  Night tonight = reference;

  template <class Change>
  explicit TwoNights(Change change) {
    for (auto& run : tonight.cells[0].runs) change(run);
  }
  RegressReport report() const { return compare_nights(tonight, reference); }
};

const RegressFinding& setting_finding(const RegressReport& report) {
  for (const auto& cell : report.cells) {
    for (const auto& finding : cell.findings) {
      if (cell.row == "row-0" && finding.what == "setting") return finding;
    }
  }
  throw std::logic_error("no such finding");
}

void at_another_rate(NightRun& run) {
  run.setting = setting_at("0.012");
  run.asked = {run.setting};
}

TEST(ChangedSetting, IsAFindingOfItsOwn) {
  TwoNights nights(at_another_rate);
  // the other cell of a row in another panel
  nights.tonight.cells[1].runs = nights.tonight.cells[0].runs;
  nights.tonight.cells[1].row = nights.reference.cells[1].row = "row-0";
  nights.tonight.cells[1].panel = nights.reference.cells[1].panel = "q";
  const auto report = nights.report();
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_EQ(setting_finding(report).verdict, RegressVerdict::changed);
  EXPECT_EQ(setting_finding(report).text, "row-0: lr 0.01 -> 0.012");
  EXPECT_THAT(terminal_regress(report, {}), HasSubstr("setting row-0: lr 0.01 -> 0.012 (p, row-0"));
  EXPECT_THAT(markdown_regress(report),
              HasSubstr("same)\n\n- **changed**: setting row-0: lr 0.01 -> 0.012 (p, row-0, epsilon 3; q, "
                        "row-0, epsilon 3)\n"));
  EXPECT_THAT(junit_regress(report), HasSubstr("<failure type=\"changed\" message=\"setting row-0: lr"));
}

TEST(ChangedSetting, OfOneSeedNamesIt) {
  TwoNights nights([](NightRun& run) {
    if (run.seed == 3) at_another_rate(run);
  });
  EXPECT_EQ(setting_finding(nights.report()).text, "row-0: seed 3: lr 0.01 -> 0.012");
}

// A search of one grid whose losing candidate moved reports the same run.
TEST(ChangedSetting, OfALosingRunIsSeen) {
  TwoNights nights([](NightRun&) {});
  for (auto& run : nights.reference.cells[0].runs) run.asked = {setting_at("0.003"), run.setting};
  for (auto& run : nights.tonight.cells[0].runs) run.asked = {setting_at("0.0036"), run.setting};
  EXPECT_EQ(nights.report().exit_code(), 1);
  EXPECT_EQ(setting_finding(nights.report()).text, "row-0: lr 0.003 -> 0.0036");
  for (auto& run : nights.tonight.cells[0].runs) run.asked = {run.setting};
  EXPECT_EQ(setting_finding(nights.report()).text, "row-0: 1 run fewer");
}

// What a search chooses may turn on the last bit of a score, and that on the machine.
TEST(ChangedSetting, OfASearchOnAnotherMachineCannotBeTold) {
  TwoNights nights([](NightRun& run) { run.setting = setting_at("0.003"); });
  for (auto* night : {&nights.tonight, &nights.reference}) {
    for (auto& run : night->cells[0].runs) run.asked = {setting_at("0.003"), setting_at("0.01")};
  }
  EXPECT_EQ(setting_finding(nights.report()).verdict, RegressVerdict::changed);
  EXPECT_EQ(setting_finding(nights.report()).text,
            "row-0: another of the same runs is reported, lr 0.01 -> 0.003");
  for (auto& run : nights.tonight.cells[0].runs) run.machine = "another";
  EXPECT_EQ(setting_finding(nights.report()).verdict, RegressVerdict::unclear);
  EXPECT_THAT(setting_finding(nights.report()).text, HasSubstr("may be chance"));
}

TEST(ChangedSetting, WithoutANoiseSeedCannotBeToldAndIsNeverTheSame) {
  TwoNights nights(at_another_rate);
  for (auto& run : nights.tonight.cells[0].runs) run.noise_seed.clear();
  EXPECT_EQ(setting_finding(nights.report()).verdict, RegressVerdict::unclear);
  EXPECT_NE(nights.report().exit_code(), 0);
}

// Which of how many runs won is confidential.
TEST(ChangedSetting, OfAPrivateSelectionIsOfTheReportedRunAlone) {
  TwoNights nights([](NightRun& run) {
    run.setting = setting_at("0.01");
    run.setting["repetition"] = "7";
  });
  for (auto* night : {&nights.tonight, &nights.reference}) {
    for (auto& run : night->cells[0].runs) run.asked.clear();
  }
  EXPECT_EQ(setting_finding(nights.report()).text, "row-0: another run of the same setting is reported");
  for (auto& run : nights.tonight.cells[0].runs) run.setting["controller.options.lr"] = "0.012";
  EXPECT_EQ(setting_finding(nights.report()).text, "row-0: lr 0.01 -> 0.012");
}

TEST(ChangedSpec, IsShownAsADifferenceOfSettings) {
  TwoNights nights(at_another_rate);
  nights.reference.resolved = {{"panels", {{{"id", "p"}, {"steps", 100}}}}};
  nights.tonight.resolved = {{"panels", {{{"id", "p"}, {"steps", 60}}}}};
  nights.tonight.hash = "fedcba9876543210";
  const auto report = nights.report();
  EXPECT_EQ(setting_finding(report).verdict, RegressVerdict::skipped);
  const auto text = terminal_regress(report, {.width = 200});
  EXPECT_THAT(text, HasSubstr("steps 100 -> 60 (p)"));
  EXPECT_THAT(text, Not(HasSubstr("fedcba")));
  EXPECT_THAT(text, HasSubstr("setting row-0: lr 0.01 -> 0.012 (the spec asks for another)"));
}

// A method's code changed its setting, and the spec something else.
TEST(ChangedSpec, OfAnotherPartDoesNotExplainASetting) {
  const auto resolved = [](const std::string& title, const std::string& panel_title, int steps, double lr) {
    const json::array rows{{{"id", "row-0"}, {"title", title}, {"options", {{"lr", lr}}}, {"seeds", {0, 1}}},
                           {{"id", "row-1"}, {"title", "b"}, {"options", {{"lr", lr + steps}}}}};
    const json::object panel{{"id", "p"}, {"title", panel_title}, {"steps", steps}, {"rows", rows}};
    return json::object{{"title", title}, {"noise_seed", "s"}, {"panels", json::array{panel}}};
  };
  const auto verdict_of = [&](const json::object& tonight) {
    TwoNights nights(at_another_rate);
    nights.reference.cells[0].panel = nights.tonight.cells[0].panel = "p";
    nights.reference.resolved = resolved("a", "p", 100, 0.01);
    nights.tonight.resolved = tonight;
    nights.tonight.hash = "fedcba9876543210";
    return setting_finding(nights.report()).verdict;
  };
  auto margin = resolved("a", "p", 100, 0.01);
  margin["regress"] = json::object{{"margin", 1}};
  auto fewer_rows = resolved("a", "p", 100, 0.01);
  fewer_rows["panels"].as_array()[0].as_object()["rows"].as_array().pop_back();
  for (const auto& tonight : {resolved("another", "q", 100, 0.01), margin, fewer_rows})
    EXPECT_EQ(verdict_of(tonight), RegressVerdict::changed) << json::serialize(tonight);
  auto other_noise = resolved("a", "p", 100, 0.01);
  other_noise["noise_seed"] = "t";
  for (const auto& tonight : {resolved("a", "p", 60, 0.01), resolved("a", "p", 100, 0.012), other_noise})
    EXPECT_EQ(verdict_of(tonight), RegressVerdict::skipped) << json::serialize(tonight);
}

}  // namespace regress_settings_test
}  // namespace hyfreedp::results
