// Planning the row of a cell's file again: what it finds, and that no file makes it throw.
#include "harness/runner/execute/cell_plan.h"

#include <functional>
#include <gtest/gtest.h>
#include <tuple>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace cell_plan_test {

// What plan_checks reads of the file of quick's cell `prodigy`, epsilon 3, with one seed.
json::object cell_file() {
  const auto spec = load_spec(HYFREEDP_SOURCE_DIR "/experiments/quick.yaml").value();
  const auto& panel = spec.content.panels.front();
  const auto& row = *find_row(panel, "prodigy");
  auto alone = as_json(panel);
  alone.erase("rows");
  json::object file{
      {"spec", {{"name", spec.content.name}}}, {"panel", alone}, {"row", as_json(row)}, {"column", 3.0}};
  for (const auto& study : plan(spec).value()) {
    const auto& cell = study.cell;
    if (cell.panel != panel.id || cell.row != row.id || cell.epsilon != 3.0 || cell.seed != 0) continue;
    const auto config = study.baseline->next(cell, {}).value().front();
    file["seeds"] =
        json::array{json::object{{"seed", cell.seed}, {"study", study.id}, {"config", config.to_json()}}};
  }
  return file;
}

bool agrees(const json::object& file) {
  const auto checks = plan_checks(file);
  return std::ranges::all_of(checks, [](const auto& check) { return check.agrees; });
}

TEST(CellPlan, TheRowOfAnExportedCellIsPlannedAgain) {
  const auto file = cell_file();
  EXPECT_EQ(plan_checks(file).size(), 2u);
  EXPECT_TRUE(agrees(file));
  auto other = file;
  other.at("row").as_object()["label"] = "oracle";
  EXPECT_FALSE(agrees(other));
  other = file;
  other.at("panel").as_object()["clipping"] = "abadi";
  EXPECT_FALSE(agrees(other)) << "another setting gives another study";
  other.at("panel").as_object()["clipping"] = "abady";
  const auto refused = plan_checks(other);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].claimed.find("file.panel: 'clipping' must be one of auto-s"), std::string::npos)
      << refused[0].claimed;
}

// The noise of a release is not part of what a row's cells share, and is checked nevertheless.
TEST(CellPlan, SettingsThatNoRunCanHaveAreRefused) {
  const std::vector<std::tuple<const char*, json::value, const char*>> wrong = {
      {"feature_mean", json::object{{"norm", 1}, {"noise", "inf"}}, "not finite"},
      {"clipping_constant", -1, "the clipping constant must be positive"}};
  for (const auto& [key, value, says] : wrong) {
    auto file = cell_file();
    file.at("panel").as_object()[key] = value;
    const auto refused = plan_checks(file);
    ASSERT_EQ(refused.size(), 1u) << key;
    EXPECT_NE(refused[0].claimed.find(says), std::string::npos) << refused[0].claimed;
  }
}

// Puts each of `values` in the place of each value of the file, and calls `then`.
void with_each(json::value& place, const std::vector<json::value>& values,
               const std::function<void()>& then) {
  const auto before = place;
  for (const auto& value : values) {
    place = value;
    then();
  }
  place = before;
  if (place.is_object()) {
    for (auto& member : place.get_object()) with_each(member.value(), values, then);
  } else if (place.is_array()) {
    for (auto& element : place.get_array()) with_each(element, values, then);
  }
}

TEST(CellPlan, NoFileMakesItThrow) {
  json::value file = cell_file();
  int tried = 0;
  with_each(
      file.as_object().at("panel"),
      {nullptr, "nan", "inf", "x", -1, 0, 1e300, true, json::array{}, json::object{}, json::array{1, "x"}},
      [&] { EXPECT_NO_THROW(plan_checks(file.as_object())) << ++tried; });
  for (const char* part : {"row", "column", "seeds", "spec"}) {
    with_each(file.as_object().at(part),
              {nullptr, "nan", "inf", "x", -1, 1e300, json::object{}, json::array{}},
              [&] { EXPECT_NO_THROW(plan_checks(file.as_object())) << part << ++tried; });
  }
  EXPECT_TRUE(agrees(file.as_object())) << "all is as it was";
}

}  // namespace cell_plan_test
}  // namespace hyfreedp::runner
