// `defaults` and the top level of a spec without `panels` are of one panel: what is laid over the
// other counts, whichever of the two names it has.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_defaults_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// As `hyfreedp new spec` writes it.
const std::string kFlat = R"(name: flat
dataset: {name: synthetic, train: 2000}
model: {name: mlp, hidden: [8]}
seeds: [0, 1]
epsilon: [1, 3]
train: {sample_rate: 0.05, steps: 100, optimizer: adamw}
rows: [prodigy, {id: fixed, method: fixed-rate, options: {lr: 0.1}, steps: 7}]
)";
const std::string kPanels = R"(name: panels
defaults:
  dataset: synthetic
  model: linear
  seeds: [0, 1]
  epsilon: [1, 3]
  train: {sample_rate: 0.1, steps: 20, optimizer: adamw}
rows:
  - prodigy
  - {id: fixed, method: fixed-rate, options: {lr: 0.1}}
panels:
  - {id: one, train: {steps: 5}}
  - {id: two, train: {steps: 6}, rows: [{use: fixed, steps: 30, title: F}]}
)";

class DefaultsOfASpec : public WrittenSpec {
 protected:
  Result<Spec> set(const std::string& yaml, const std::vector<std::string>& settings) const {
    write("spec.yaml", yaml);
    return load_spec(path(), "", settings);
  }
  spec::Panel panel(const std::string& yaml, const std::vector<std::string>& settings = {}) const {
    const auto spec = set(yaml, settings);
    if (spec) return spec->content.panels.front();
    ADD_FAILURE() << spec.error().message;
    return {};
  }
  std::string complaint(const std::string& yaml, const std::vector<std::string>& settings = {}) const {
    const auto spec = set(yaml, settings);
    return spec ? "" : spec.error().message;
  }
};

TEST_F(DefaultsOfASpec, ASettingCountsUnderEitherName) {
  EXPECT_EQ(panel(kFlat, {"defaults.train.steps=500"}).train.steps, 500);
  EXPECT_EQ(panel(kFlat, {"train.steps=500"}).train.steps, 500);
  EXPECT_EQ(panel(kFlat, {"train.steps=5", "defaults.train.steps=500"}).train.steps, 500);
  EXPECT_EQ(panel(kFlat, {"defaults.train.steps=500", "train.steps=5"}).train.steps, 5);
  EXPECT_THAT(panel(kFlat, {"defaults.epsilon=[8]"}).epsilons, ElementsAre(8));
  EXPECT_EQ(panel(kFlat, {"defaults.model=linear"}).model.name, "linear");
  EXPECT_EQ(panel(kFlat, {"defaults.model.hidden=[16]"}).model.options.at("hidden").as_array().at(0), 16);
  EXPECT_EQ(panel(kFlat, {"defaults={seeds: [7], train: {steps: 9}}"}).seeds, std::vector<std::int64_t>{7});
  auto nested = kFlat;
  nested.replace(nested.find("model: {name: mlp, hidden: [8]}"), 31,
                 "defaults: {model: {name: mlp, hidden: [8]}}");
  EXPECT_EQ(panel(nested, {"model.hidden=[16]"}).model.options.at("hidden").as_array().at(0), 16);
}

TEST_F(DefaultsOfASpec, AnIncludingFileAndAPresetCountToo) {
  write("base.yaml", kFlat);
  EXPECT_EQ(panel("include: base.yaml\nname: mine\ndefaults: {train: {steps: 500}}\n").train.steps, 500);
  EXPECT_EQ(panel("include: base.yaml\nname: mine\ntrain: {steps: 500}\n").train.steps, 500);
  write("over.yaml", "include: base.yaml\ndefaults: {train: {steps: 500}}\n");
  EXPECT_EQ(panel("include: over.yaml\nname: mine\ntrain: {steps: 4}\n").train.steps, 4);
  const auto preset =
      kFlat + "presets:\n  a: {defaults: {train: {steps: 3}}}\n  b: {from: a, train: {steps: 2}}\n";
  write("spec.yaml", preset);
  EXPECT_EQ(load_spec(path(), "a")->content.panels.front().train.steps, 3);
  EXPECT_EQ(load_spec(path(), "b")->content.panels.front().train.steps, 2);
  EXPECT_EQ(load_spec(path(), "b", {"defaults.train.steps=1"})->content.panels.front().train.steps, 1);
}

TEST_F(DefaultsOfASpec, AContradictionInOneFileIsRefusedWithBothLines) {
  const auto said = complaint(kFlat + "defaults: {train: {steps: 500}, seeds: [7]}\n");
  EXPECT_THAT(said, AllOf(HasSubstr("/spec.yaml:6: train.steps is '100' here and '500' under 'defaults' ("),
                          HasSubstr("/spec.yaml:8)"), HasSubstr("/spec.yaml:4: seeds is a list here")));
  write("a spec.yaml", kFlat + "defaults: {train: {steps: 500}}\n");
  const auto spaced = load_spec((std::filesystem::path(path()).parent_path() / "a spec.yaml").string());
  EXPECT_THAT(spaced.error().message, HasSubstr("/a spec.yaml:8)"));
  // The same value twice, and what only one of them says, is none.
  EXPECT_EQ(panel(kFlat + "defaults: {train: {steps: 100, average: ema}}\n").train.steps, 100);
  EXPECT_THAT(complaint(kFlat + "defaults: {trian: {steps: 100}, seeds: [0, 1]}\n"),
              HasSubstr("unknown key 'trian'"));
}

TEST_F(DefaultsOfASpec, ASettingThatNothingReadsIsRefused) {
  EXPECT_THAT(complaint(kPanels, {"defaults.train.steps=500"}),
              AllOf(StartsWith("--set defaults.train.steps=500 changes nothing, for this wins over it: "),
                    HasSubstr("/spec.yaml:12: panels[0].train.steps, "), HasSubstr("panels[1].train.steps"),
                    HasSubstr("A panel's own keys win over 'defaults'")));
  EXPECT_THAT(complaint(kPanels, {"rows.prodigy.title=P", "rows.prodigy.paper=P"}),
              StartsWith("--set rows.prodigy.paper=P changes nothing"));
  auto own = kPanels;
  own.replace(own.find("title: F"), 8, "title: F, epsilon: [1], seeds: [0]");
  own.replace(own.find("  - {id: one, train: {steps: 5}}\n"), 33, "");
  EXPECT_THAT(
      complaint(own, {"rows.fixed.epsilon=[8]"}),
      AllOf(HasSubstr("changes nothing, for this wins over it: "), HasSubstr("panels[0].rows[0].epsilon")));
  EXPECT_THAT(complaint(own, {"rows.prodigy.epsilon=[8]"}), HasSubstr("for no panel or row reads it"));
  // Of several values in a map, each.
  EXPECT_THAT(complaint(kPanels, {"defaults.train={sample_rate: 0.1, steps: 500, optimizer: adamw}"}),
              HasSubstr("changes nothing"));
}

TEST_F(DefaultsOfASpec, WhatTheSpecSaysAlreadyIsAWarning) {
  for (const char* setting :
       {"defaults.train.steps=100", "train.steps=100", "train.microbatch=0", "rows.prodigy.options={}"}) {
    const auto spec = set(kFlat, {setting});
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_THAT(spec->warnings, ElementsAre(HasSubstr("the spec is the same without it"))) << setting;
  }
  EXPECT_THAT(set(kFlat, {"train.steps=101", "title=T"})->warnings, IsEmpty());
  // Of several settings of one key the last counts; the others may be a script's own.
  EXPECT_THAT(set(kFlat, {"train.steps=5", "train.steps=101"})->warnings,
              ElementsAre("--set train.steps=5 has no effect: --set train.steps=101 comes after it."));
}

// Otherwise a base with a default preset would silently undo what its user changed.
TEST_F(DefaultsOfASpec, AnIncludingFileWinsOverThePresetsOfTheIncludedOne) {
  write("base.yaml", kFlat + "presets:\n  small: {train: {steps: 3}}\n  large: {train: {steps: 900}}\n");
  const std::string mine = "include: base.yaml\nname: mine\n";
  EXPECT_EQ(panel(mine).train.steps, 3);
  for (const char* own : {"train: {steps: 500}\n", "defaults: {train: {steps: 500}}\n"}) {
    EXPECT_EQ(panel(mine + own).train.steps, 500) << own;
    EXPECT_EQ(panel(mine + own + "presets: {small: {train: {steps: 2}}}\n").train.steps, 2) << own;
  }
  write("spec.yaml", mine + "presets: {mine: {from: large, epsilon: [8]}}\n");
  EXPECT_EQ(load_spec(path(), "mine")->content.panels.front().train.steps, 900);
  write("over.yaml", "include: [base.yaml, other.yaml]\n");
  write("other.yaml", "train: {steps: 7}\n");
  EXPECT_EQ(panel("include: over.yaml\nname: mine\n").train.steps, 7);
}

TEST_F(DefaultsOfASpec, DefaultsThatNoPanelTakesAreRefused) {
  write("base.yaml", kPanels);
  EXPECT_THAT(complaint("include: base.yaml\nname: mine\ndefaults: {train: {steps: 500}}\n"),
              AllOf(HasSubstr("/spec.yaml:3: defaults.train.steps changes nothing"),
                    HasSubstr("/base.yaml:12: panels[0].train.steps and 1 more")));
  EXPECT_THAT(complaint(kPanels + "presets: {a: {defaults: {train: {steps: 500}}}}\n"),
              HasSubstr("presets.a.defaults.train.steps changes nothing"));
  // One panel takes it.
  EXPECT_EQ(complaint("include: base.yaml\nname: mine\ndefaults: {train: {average: ema}}\n"), "");
  EXPECT_EQ(complaint(kPanels + "presets: {a: {defaults: {train: {steps: 500}}, panels: [{id: three}]}}\n"),
            "");
}

}  // namespace spec_defaults_test
}  // namespace hyfreedp::runner
