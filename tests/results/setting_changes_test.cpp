// Differences of settings and of specs, in words.
#include "results/regress/setting_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyfreedp::results {
namespace setting_changes_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::object parsed(const std::string& text) { return parse_json(text, "test").value().as_object(); }

std::vector<std::string> changes(const std::string& before, const std::string& now) {
  return setting_changes(setting_of(parsed(before)), setting_of(parsed(now)));
}

TEST(SettingChanges, NameTheMemberAndBothValues) {
  const std::string base = R"({"controller": {"name": "constant", "options": {"lr": 0.01}}, "steps": 100})";
  EXPECT_THAT(changes(base, base), IsEmpty());
  EXPECT_THAT(changes(base, R"({"controller": {"name": "constant", "options": {"lr": 0.012}}, "steps": 60})"),
              ElementsAre("lr 0.01 -> 0.012", "steps 100 -> 60"));
  EXPECT_THAT(changes(base, R"({"controller": {"name": "schedule", "options": {"lr": 0.02, "warm": 5}},
                               "steps": 100})"),
              ElementsAre("controller constant -> schedule"));
  EXPECT_THAT(changes(base, R"({"controller": {"name": "constant", "options": {"lr": 0.01}}})"),
              ElementsAre("steps 100 -> (none)"));
}

TEST(SettingChanges, ShowAsManyDigitsAsTellNumbersApart) {
  EXPECT_THAT(changes(R"({"privacy": {"gradient_noise": 1.508347474712}})",
                      R"({"privacy": {"gradient_noise": 1.508347474799}})"),
              ElementsAre("gradient_noise 1.5083474747 -> 1.5083474748"));
  EXPECT_THAT(changes(R"({"n": 1234567})", R"({"n": 1234568})"), ElementsAre("n 1234567 -> 1234568"));
}

TEST(SettingChanges, TellMembersOfOneNameApart) {
  EXPECT_THAT(changes(R"({"optimizer": {"options": {"lr": 1}}, "controller": {"options": {"lr": 1}}})",
                      R"({"optimizer": {"options": {"lr": 2}}, "controller": {"options": {"lr": 3}}})"),
              ElementsAre("controller.lr 1 -> 3", "optimizer.lr 1 -> 2"));
}

TEST(SpecChanges, SayWhereAndOnceWhatIsTheSameInSeveralPlaces) {
  const auto before = parsed(R"({"name": "n", "title": "T", "panels": [
      {"id": "linear", "steps": 100, "rows": [{"id": "a", "options": {"lr": 0.1}}, {"id": "b"}]},
      {"id": "mlp", "steps": 100, "rows": [{"id": "a", "options": {"lr": 0.1}}]}]})");
  const auto now = parsed(R"({"name": "n", "title": "T", "panels": [
      {"id": "linear", "steps": 60, "rows": [{"id": "a", "options": {"lr": 0.2}}, {"id": "c"}]},
      {"id": "mlp", "steps": 60, "rows": [{"id": "a", "options": {"lr": 0.1}}]}, {"id": "cnn"}]})");
  EXPECT_THAT(spec_changes(before, before), IsEmpty());
  EXPECT_THAT(spec_changes(before, now),
              ElementsAre("steps 100 -> 60 (linear, mlp)", "lr 0.1 -> 0.2 (linear/a)",
                          "row c is new (linear)", "row b is gone (linear)", "panel cnn is new"));
}

TEST(SpecChanges, OfWhatIsTooLongToBeReadSayThatItChanged) {
  EXPECT_THAT(
      spec_changes(parsed(R"({"description": "Short."})"),
                   {{"description", "A description that nobody wants to read twice, in any report."}}),
      ElementsAre("description changed"));
}

}  // namespace setting_changes_test
}  // namespace hyfreedp::results
