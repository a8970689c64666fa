// What a spec says and nothing reads is told.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_unread_test {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDefaults = R"(name: panels
defaults:
  dataset: synthetic
  model: linear
  seeds: [0]
  train: {sample_rate: 0.1, steps: 20, optimizer: adamw}
)";

class UnreadSpec : public WrittenSpec {
 protected:
  std::vector<std::string> told(const std::string& yaml) const {
    const auto spec = load(kDefaults + yaml);
    if (spec) return spec->warnings;
    ADD_FAILURE() << spec.error().message;
    return {};
  }
};

TEST_F(UnreadSpec, DefaultsThatEveryPanelSays) {
  const std::string rows = "  epsilon: [1]\nrows: [prodigy]\n";
  EXPECT_THAT(told(rows + "panels: [{id: a, epsilon: [2]}, {id: b, epsilon: [3]}]\n"),
              Contains(AllOf(HasSubstr("spec.yaml:7: defaults.epsilon has no effect"),
                             HasSubstr("spec.yaml:9: panels[0].epsilon"))));
  EXPECT_THAT(told(rows + "panels: [{id: a, epsilon: [2]}, {id: b}]\n"), IsEmpty());
  EXPECT_THAT(told(rows + "panels: [{id: a, epsilon: [1]}, {id: b, epsilon: [1]}]\n"), IsEmpty());
}

TEST_F(UnreadSpec, RowsThatNoPanelUses) {
  const std::string rows =
      "  epsilon: [1]\nrows: [prodigy, {id: mine, method: fixed-rate, options: {lr: 1}}]\n";
  EXPECT_THAT(told(rows + "panels: [{id: a, rows: [prodigy]}]\n"),
              Contains(HasSubstr("spec.yaml:8: the row 'mine' has no effect")));
  EXPECT_THAT(told(rows + "panels: [{id: a, rows: [prodigy]}, {id: b}]\n"), IsEmpty());
  EXPECT_THAT(told(rows + "panels: [{id: a, rows: [prodigy, {use: mine, title: T}]}]\n"), IsEmpty());
  EXPECT_THAT(told(rows + "presets: {one: {panels: [{id: a, rows: [prodigy]}]}}\n"), IsEmpty())
      << "another preset may use it";
}

TEST_F(UnreadSpec, WhatNoRowIs) {
  const auto all = [&](const std::string& rows) {
    return told(
        "  epsilon: [1]\n  evaluate: {raw_losses: true}\ntable: {oracle_beaten: true, groups: "
        "median}\nrows: " +
        rows + "\npanels: [{id: a}]\n");
  };
  EXPECT_THAT(all("[prodigy]"),
              AllOf(Contains(HasSubstr("table.oracle_beaten has no effect: no row is an oracle")),
                    Contains(HasSubstr("table.groups has no effect: no row is in a 'group'")),
                    Contains(HasSubstr("defaults.evaluate.raw_losses has no effect"))));
  EXPECT_THAT(all("[{method: hyfreedp, group: g}, {method: nondp-gs, options: {grid: [0.1]}}]"), IsEmpty());
}

TEST_F(UnreadSpec, EpsilonsOfAFigureThatNoCellHas) {
  const auto yaml =
      kDefaults + "  epsilon: [1, 2]\nrows: [prodigy]\npanels: [{id: a}, {id: b, epsilon: [8]}]\n";
  EXPECT_THAT(refusal(yaml + "figures: [{kind: curves, epsilons: [5]}]\n"),
              HasSubstr("figures[0].epsilons names no epsilon of this spec: 5. Known: 1, 2, 8"));
  EXPECT_EQ(refusal(yaml + "figures: [{kind: curves, epsilons: [8, 1]}]\n"), "");
}

}  // namespace spec_unread_test
}  // namespace hyfreedp::runner
