// Presets of a spec: what each makes of the top level, and the mistakes.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_presets_test {

using testing::AllOf;
using testing::HasSubstr;

const std::string kSpec = kHead + R"(panels:
  - {id: one, rows: [{method: prodigy}]}
  - {id: two, rows: [{method: prodigy}]}
presets:
  paper: {defaults: {train: {steps: 500}}}
  small: {title: A small one, seeds_note: x}
  smoke: {from: small, defaults: {train: {steps: 3}}, panels: [{id: only, rows: [{method: prodigy}]}]}
)";

std::string without_typo(std::string text) {
  const std::string typo = ", seeds_note: x";
  return text.replace(text.find(typo), typo.size(), "");
}

class Presets : public WrittenSpec {};

TEST_F(Presets, MapsAreMergedAndListsReplaced) {
  const auto smoke = resolved(without_typo(kSpec), "smoke");
  EXPECT_EQ(smoke.at("name").as_string(), "demo-smoke");
  EXPECT_EQ(smoke.at("preset").as_string(), "smoke");
  EXPECT_EQ(smoke.at("title").as_string(), "A small one");  // from: small
  ASSERT_EQ(smoke.at("panels").as_array().size(), 1u);
  const auto& panel = smoke.at("panels").as_array().at(0).as_object();
  EXPECT_EQ(panel.at("id").as_string(), "only");
  EXPECT_EQ(panel.at("steps").as_int64(), 3);
  // the top level's, beside the preset's steps
  EXPECT_EQ(panel.at("sample_rate").as_double(), 0.1);
  EXPECT_EQ(panel.at("optimizer").at("options").at("weight_decay").as_double(), 0.02);
}

TEST_F(Presets, SmallIsTheUsualOneElseTheFirst) {
  const auto text = without_typo(kSpec);
  EXPECT_EQ(resolved(text).at("name").as_string(), "demo-small");
  EXPECT_EQ(resolved(text, "paper").at("panels").as_array().at(0).at("steps").as_int64(), 500);
  const auto at = text.find("  small:");
  const auto only_paper = text.substr(0, at);
  EXPECT_EQ(resolved(only_paper).at("name").as_string(), "demo-paper");
  EXPECT_EQ(presets_of((write("spec.yaml", text), path())).value(),
            (std::vector<std::string>{"paper", "small", "smoke"}));
}

TEST_F(Presets, ASpecWithoutKeepsItsName) {
  const auto text = kSpec.substr(0, kSpec.find("presets:"));
  const auto spec = resolved(text);
  EXPECT_EQ(spec.at("name").as_string(), "demo");
  EXPECT_FALSE(spec.contains("preset"));
  EXPECT_TRUE(presets_of(path()).value().empty());
  EXPECT_THAT(refusal(text, "small"), HasSubstr("has no presets, so 'small' cannot be chosen"));
}

TEST_F(Presets, MistakesSayLineAndWayOut) {
  EXPECT_THAT(refusal(kSpec), AllOf(HasSubstr("spec.yaml:14: presets.small: unknown key 'seeds_note'."),
                                    HasSubstr("Valid keys: from, title")));
  const auto text = without_typo(kSpec);
  EXPECT_THAT(refusal(text, "smole"),
              AllOf(HasSubstr("spec.yaml:13: presets names no preset: 'smole'."),
                    HasSubstr("Did you mean 'smoke'? Presets: paper, small, smoke.")));
  // A value that a preset brings is named where it is written.
  auto wrong = text;
  wrong.replace(wrong.find("steps: 3"), 8, "steps: x");
  EXPECT_THAT(refusal(wrong, "smoke"), HasSubstr("spec.yaml:15: defaults.train.steps must be a number"));
  auto typo = text;
  typo.replace(typo.find("steps: 3"), 8, "stesp: 3");
  EXPECT_THAT(refusal(typo, "smoke"),
              AllOf(HasSubstr("unknown key 'stesp'"), HasSubstr("Did you mean 'steps'?")));
  auto circle = text;
  circle.replace(circle.find("{title: A small one}"), 20, "{from: smoke}");
  EXPECT_THAT(refusal(circle),
              HasSubstr("spec.yaml:15: presets.smoke.from comes back to the preset 'small'."));
  auto nowhere = text;
  nowhere.replace(nowhere.find("from: small"), 11, "from: smal");
  EXPECT_THAT(refusal(nowhere, "smoke"), HasSubstr("Did you mean 'small'?"));
  EXPECT_THAT(refusal(kHead + "presets:\n  small: [personachat]\n"),
              HasSubstr("presets.small must be a map of keys and values, not a list"));
}

TEST_F(Presets, AChangedAliasLeavesTheOthersAlone) {
  const auto text = kHead + R"(panels:
  - {id: one, train: &mine {steps: 7}, rows: [{method: prodigy}]}
  - {id: two, train: *mine, rows: [{method: prodigy}]}
presets:
  small: {defaults: {train: {steps: 9, average: ema}}, panels: [{id: one, train: *mine}, {id: two}], rows: [prodigy]}
)";
  const auto panels = resolved(text).at("panels").as_array();
  EXPECT_EQ(panels.at(0).at("steps").as_int64(), 7);
  EXPECT_EQ(panels.at(1).at("steps").as_int64(), 9);
}

TEST_F(Presets, WhatCannotRunHereSaysWhyAndIsRefusedWhereItCould) {
  const auto kind = [](const std::string& what) { return kHead + "presets:\n  paper: {" + what + "}\n"; };
  const auto spec =
      resolved(kind("not_runnable: {reason: no images, datasets: [imagenet, adult], missing: [BLEU]}"));
  EXPECT_EQ(spec.at("not_runnable").at("reason").as_string(), "no images");
  EXPECT_TRUE(spec.at("panels").as_array().empty());
  EXPECT_FALSE(is_runnable(load(kind("not_runnable: {reason: x, weights: [vit-small]}")).value()));
  EXPECT_THAT(refusal(kind("not_runnable: {reason: x, datasets: [adult], models: [vit]}")),
              AllOf(HasSubstr("spec.yaml:10: not_runnable"),
                    HasSubstr("names only what is registered (adult, vit)")));
  EXPECT_THAT(refusal(kind("not_runnable: {reason: x}")), HasSubstr("must name what is not here"));
  EXPECT_THAT(refusal(kind("not_runnable: {datasets: [imagenet]}")),
              HasSubstr("not_runnable: 'reason' is missing"));
  EXPECT_THAT(refusal(kind("not_runnable: {reason: x, missing: [y]}, analytic: {name: z}")),
              HasSubstr("exclude"));
}

TEST_F(Presets, WhatIsComputedIsCheckedAgainstItsOwnOptions) {
  const auto kind = [](const std::string& what) { return kHead + "analytic: {" + what + "}\n"; };
  const auto spec = resolved(kind("name: hyfreedp-figure-7"));
  EXPECT_EQ(spec.at("analytic").at("name").as_string(), "hyfreedp-figure-7");
  EXPECT_FALSE(spec.at("analytic").at("options").as_object().contains("name"));
  EXPECT_THAT(refusal(kind("name: hyfreedp-figure-77")),
              AllOf(HasSubstr("spec.yaml:9: analytic.name names no computation: 'hyfreedp-figure-77'."),
                    HasSubstr("Did you mean 'hyfreedp-figure-7'?")));
  EXPECT_THAT(refusal(kind("name: hyfreedp-figure-7, nonsense: 1")), HasSubstr("unknown key 'nonsense'"));
  EXPECT_THAT(refusal(kind("nonsense: 1")), HasSubstr("analytic: 'name' is missing"));
}

}  // namespace spec_presets_test
}  // namespace hyfreedp::runner
