// What `--set` and `include` make of a spec's file, and the errors, which name where a value was
// written.
#include "harness/runner/spec/spec_document.h"

#include <array>
#include <unistd.h>

#include "harness/runner/spec/spec_needs.h"
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_document_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSpec = R"(name: demo
title: As written
defaults:
  dataset: synthetic
  model: {name: mlp, hidden: [8]}
  seeds: [0, 1]
  epsilon: [1, 8]
  train: {sample_rate: 0.1, steps: 20, optimizer: adamw}
rows:
  - prodigy
  - {id: fixed, method: fixed-rate, options: {lr: 0.1}}
panels:
  - {id: one}
  - {id: two, rows: [{use: fixed, steps: 30}, {method: prodigy, title: P}]}
)";
const std::string kPresets = kSpec + R"(presets:
  small: {title: Small, defaults: {train: {steps: 5}}}
)";

class Setting : public WrittenSpec {
 protected:
  Result<Spec> set(const std::vector<std::string>& settings, const std::string& yaml = kSpec,
                   const std::string& preset = "") const {
    write("spec.yaml", yaml);
    return load_spec(path(), preset, settings);
  }
  std::string complaint(const std::vector<std::string>& settings, const std::string& yaml = kSpec) const {
    const auto spec = set(settings, yaml);
    return spec ? "" : spec.error().message;
  }
  // The same as the file with `written` in the place of `there`.
  void expect_edited(const std::vector<std::string>& settings, const std::string& there,
                     const std::string& written) const {
    auto edited = kSpec;
    const auto at = edited.find(there);
    ASSERT_NE(at, std::string::npos) << there;
    edited.replace(at, there.size(), written);
    const auto made = set(settings);
    ASSERT_TRUE(made) << made.error().message;
    const auto by_hand = load(edited);
    ASSERT_TRUE(by_hand) << by_hand.error().message;
    EXPECT_EQ(canonical_json(as_json(made->content)), canonical_json(as_json(by_hand->content)));
    EXPECT_EQ(made->hash(), by_hand->hash());
    EXPECT_NE(made->hash(), load(kSpec)->hash()) << "nothing was set";
  }
};

TEST_F(Setting, IsTheSameAsEditingTheFile) {
  expect_edited({"title=Another"}, "As written", "Another");
  expect_edited({"defaults.train.steps=60"}, "steps: 20", "steps: 60");
  expect_edited({"defaults.epsilon=[2, inf]"}, "epsilon: [1, 8]", "epsilon: [2, inf]");
  expect_edited({"defaults.train.average=ema"}, "steps: 20", "steps: 20, average: ema");
  expect_edited({"defaults.model.hidden=[16, 8]"}, "hidden: [8]", "hidden: [16, 8]");
  // The last of several counts.
  expect_edited({"defaults.train.steps=10", "defaults.train.steps=60"}, "steps: 20", "steps: 60");
}

TEST_F(Setting, ElementsOfListsHaveNamesAndPositions) {
  for (const char* panel : {"panels.two", "panels.1"}) {
    for (const char* row : {"rows.fixed", "rows.0"}) {
      expect_edited({fmt::format("{}.{}.steps=40", panel, row)}, "steps: 30", "steps: 40");
    }
    expect_edited({fmt::format("{}.rows.prodigy.title=Q", panel)}, "title: P", "title: Q");
  }
  expect_edited({"rows.fixed.options.lr=0.2"}, "lr: 0.1", "lr: 0.2");
  expect_edited({"panels.one.train.steps=7"}, "{id: one}", "{id: one, train: {steps: 7}}");
}

TEST_F(Setting, APlainNameBecomesTheMapThatItStandsFor) {
  expect_edited({"defaults.dataset.train=3000"}, "dataset: synthetic",
                "dataset: {name: synthetic, train: 3000}");
  expect_edited({"defaults.train.optimizer.beta1=0.8"}, "optimizer: adamw",
                "optimizer: {name: adamw, beta1: 0.8}");
  expect_edited({"rows.prodigy.title=Q"}, "- prodigy", "- {method: prodigy, title: Q}");
}

TEST_F(Setting, KeysOfEachHaveDots) {
  const std::string row = "{id: fixed, method: fixed-rate, options: {lr: 0.1}}";
  const std::string swept = "{id: fixed, method: fixed-rate, each: {options.lr: [0.1, 0.2]}}";
  auto edited = kSpec;
  edited.replace(edited.find(row), row.size(), swept);
  edited.replace(edited.find("{use: fixed, steps: 30}, "), 25, "");
  const auto wider = set({"rows.fixed.each.options.lr=[0.1, 0.2, 0.3]"}, edited);
  ASSERT_TRUE(wider) << wider.error().message;
  EXPECT_EQ(wider->content.panels[0].rows.size(), 4u);
  const auto more = set({"rows.fixed.each.train.clipping_constant=[1, 2]"}, edited);
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->content.panels[0].rows.size(), 5u);
}

TEST_F(Setting, IsLaidOverThePreset) {
  const auto spec = set({"defaults.train.steps=6", "name=other"}, kPresets);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.name, "other-small");
  EXPECT_EQ(spec->content.title, "Small");
  EXPECT_EQ(spec->content.panels[0].train.steps, 6);
  EXPECT_EQ(set({"title=T"}, kPresets, "small")->content.panels[0].train.steps, 5);
  EXPECT_THAT(complaint({"presets.small.title=T"}, kPresets),
              StartsWith("--set presets.small.title: the path"));
  EXPECT_THAT(complaint({"include=base.yaml"}), StartsWith("--set include: the path"));
}

TEST_F(Setting, ErrorsNameIt) {
  EXPECT_THAT(complaint({"defaults.train.steps=many"}),
              StartsWith("--set defaults.train.steps: defaults.train.steps must be"));
  EXPECT_THAT(complaint({"defaults.train.stepps=5"}),
              AllOf(StartsWith("--set defaults.train.stepps: defaults.train: unknown key 'stepps'"),
                    HasSubstr("Did you mean 'steps'?")));
  EXPECT_THAT(complaint({"titel=T"}), StartsWith("--set titel: unknown key 'titel'. Did you mean 'title'?"));
  EXPECT_THAT(complaint({"defaults.epsilon="}), StartsWith("--set defaults.epsilon: defaults.epsilon"));
  EXPECT_THAT(complaint({"steps=5"}), StartsWith("--set steps: 'steps' belongs"));
  EXPECT_THAT(complaint({"defaults.model={name: mlp, hidden: [8], depth: 3}"}),
              StartsWith("--set defaults.model: defaults.model: unknown key 'depth'"));
  EXPECT_THAT(complaint({"title=[a"}), StartsWith("--set title: not valid YAML"));
  EXPECT_THAT(complaint({"title=\xff"}), StartsWith("--set title: the value is not UTF-8"));
  EXPECT_THAT(
      complaint({"panels.three.title=T"}),
      HasSubstr("--set panels.three.title: panels has no element 'three'. It has 2 elements: one, two."));
  EXPECT_THAT(complaint({"panels.2.title=T"}), HasSubstr("panels has no element '2'"));
  EXPECT_THAT(complaint({"title.words=T"}),
              HasSubstr("--set title.words: title is 'As written', which has no keys"));
  EXPECT_THAT(complaint({"defaults..steps=1"}), HasSubstr("has an empty name"));
  for (const char* wrong : {"title", "=5"}) EXPECT_THAT(complaint({wrong}), HasSubstr("give KEY=VALUE"));
}

// A mistake of the file has its line, whatever is set beside it.
TEST_F(Setting, LinesOfTheFileStay) {
  auto text = kSpec;
  text.replace(text.find("model: {name: mlp"), 17, "model: {name: mlq");
  const auto said = complaint({"defaults.train.steps=60", "title=T"}, text);
  EXPECT_THAT(said, HasSubstr("spec.yaml:5: defaults.model"));
  EXPECT_THAT(said, Not(HasSubstr("--set")));
}

TEST_F(Setting, IsRecordedWithTheText) {
  const auto spec = set({"title=Another", "defaults.train.steps=60"}).value();
  EXPECT_EQ(spec.text, kSpec + "\n# --set title=Another\n# --set defaults.train.steps=60\n");
  EXPECT_EQ(load(kSpec)->text, kSpec);
}

TEST_F(Setting, NeedsFollowIt) {
  write("spec.yaml", kSpec);
  EXPECT_TRUE(spec_needs(path(), "").value().datasets.contains("synthetic"));
  const auto needs = spec_needs(path(), "", {"defaults.dataset={name: mnist}"}).value();
  EXPECT_TRUE(needs.datasets.contains("mnist"));
  EXPECT_FALSE(needs.datasets.contains("synthetic"));
}

class Include : public WrittenSpec {
 protected:
  void write_base() const {
    write("base.yaml", R"(title: Base
defaults:
  dataset: {name: synthetic, train: 1000}
  model: linear
  seeds: [0, 1, 2]
  epsilon: [1, 8]
  train: {sample_rate: 0.1, steps: 20, optimizer: adamw}
rows: [prodigy, hyfreedp-plus]
)");
  }
};

TEST_F(Include, MapsMergeAndListsAreReplaced) {
  write_base();
  const auto spec = resolved(
      "include: base.yaml\nname: demo\ndefaults: {seeds: [7], train: {steps: 9}}\n"
      "panels: [{id: one}]\n");
  const auto& panel = spec.at("panels").as_array().at(0).as_object();
  EXPECT_EQ(spec.at("title").as_string(), "Base");
  EXPECT_EQ(panel.at("steps").as_int64(), 9);
  EXPECT_EQ(panel.at("sample_rate").as_double(), 0.1);
  EXPECT_EQ(panel.at("seeds").as_array().size(), 1u);
  EXPECT_EQ(panel.at("rows").as_array().size(), 2u);
}

// Only what they say together counts.
TEST_F(Include, TheHashIsOfTheMergedContent) {
  write_base();
  const auto split = load("include: [base.yaml]\nname: demo\npanels: [{id: one}]\n").value();
  std::ifstream base(folder_ / "base.yaml");
  const std::string whole((std::istreambuf_iterator<char>(base)), {});
  const auto joined = load("name: demo\n" + whole + "panels: [{id: one}]\n").value();
  EXPECT_EQ(split.hash(), joined.hash());
  EXPECT_EQ(plan(split).value().front().id, plan(joined).value().front().id);
  // The database's text has them all.
  EXPECT_THAT(split.text, AllOf(StartsWith("include: [base.yaml]\n"), HasSubstr("# Included: "),
                                HasSubstr("/base.yaml\n# title: Base\n# defaults:\n#   dataset:")));
}

TEST_F(Include, ALaterFileIsLaidOverEarlierOnes) {
  write_base();
  write("over.yaml", "title: Over\ndefaults: {train: {steps: 4}}\n");
  const std::string rest = "name: demo\npanels: [{id: one}]\n";
  EXPECT_EQ(load("include: [base.yaml, over.yaml]\n" + rest)->content.title, "Over");
  EXPECT_EQ(load("include: [over.yaml, base.yaml]\n" + rest)->content.title, "Base");
  EXPECT_EQ(load("include: [base.yaml, over.yaml]\n" + rest)->content.panels[0].train.steps, 4);
}

TEST_F(Include, PathsStartAtTheFileThatHasThem) {
  write_base();
  std::filesystem::create_directories(folder_ / "inner");
  write("inner/middle.yaml", "include: ../base.yaml\ntitle: Middle\n");
  const auto spec = load("include: inner/middle.yaml\nname: demo\npanels: [{id: one}]\n");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.title, "Middle");
  // The paper's values lie beside the file that refers to them.
  std::filesystem::create_directories(folder_ / "paper");
  write("paper/values.json", R"({"paper": "demo", "tables": [{"id": "9", "row_fields": [], "cells": []}]})");
  write("paper/of.yaml", "include: ../base.yaml\nreproduces: {paper: demo, id: table 9}\n");
  const auto of_paper = load("include: paper/of.yaml\nname: demo\npanels: [{id: one}]\n");
  ASSERT_TRUE(of_paper) << of_paper.error().message;
  EXPECT_EQ(of_paper->content.reproduces->id, "table 9");
}

TEST_F(Include, PresetsAndSettingsAreLaidOverIt) {
  write_base();
  write("presets.yaml", "presets: {small: {defaults: {train: {steps: 3}}}}\n");
  const std::string text = "include: [base.yaml, presets.yaml]\nname: demo\npanels: [{id: one}]\n";
  EXPECT_EQ(load(text)->content.name, "demo-small");
  EXPECT_EQ(load(text)->content.panels[0].train.steps, 3);
  EXPECT_EQ(presets_of(path()).value(), std::vector<std::string>{"small"});
  EXPECT_EQ(load_spec(path(), "", {"defaults.train.steps=2"})->content.panels[0].train.steps, 2);
  EXPECT_TRUE(spec_needs(path(), "").value().datasets.contains("synthetic"));
}

TEST_F(Include, ErrorsNameFileAndLineOfTheValue) {
  write_base();
  const std::string rest = "name: demo\npanels: [{id: one}]\n";
  write("bad.yaml", "# a comment\ndefaults:\n  train:\n    steps: many\n");
  EXPECT_THAT(refusal("include: [base.yaml, bad.yaml]\n" + rest),
              HasSubstr("/bad.yaml:4: defaults.train.steps must be"));
  write("bad.yaml", "defaults:\n  train: {stepps: 3}\n");
  EXPECT_THAT(refusal("include: [base.yaml, bad.yaml]\n" + rest),
              HasSubstr("/bad.yaml:2: defaults.train: unknown key 'stepps'"));
  EXPECT_THAT(refusal("include: base.yaml\n" + rest + "titel: T\n"),
              HasSubstr("/spec.yaml:4: unknown key 'titel'"));
  write("bad.yaml", "title: T\ntitle: U\n");
  EXPECT_THAT(refusal("include: [base.yaml, bad.yaml]\n" + rest),
              HasSubstr("/bad.yaml:2: has the key 'title' twice"));
  write("bad.yaml", "title: [\n");
  EXPECT_THAT(refusal("include: bad.yaml\n" + rest),
              AllOf(HasSubstr("/bad.yaml:"), HasSubstr("not valid YAML")));
  write("bad.yaml", "");
  EXPECT_THAT(refusal("include: bad.yaml\n" + rest),
              HasSubstr("must be a map of keys and values, not nothing"));
  EXPECT_THAT(
      refusal("title: T\ninclude: absent.yaml\n" + rest),
      AllOf(HasSubstr("/spec.yaml:2: include names no file: "), HasSubstr("/absent.yaml is not there")));
  EXPECT_THAT(refusal("include: [base.yaml, [x]]\n" + rest),
              HasSubstr("include[1] must be a file's name, not a list"));
}

TEST_F(Include, NamesThatNoFileCanHaveAreRefused) {
  EXPECT_THAT(refusal("include: " + std::string(5000, 'a') + "\nname: n\n"),
              HasSubstr("include names no file"));
  // As the shell's <(...) gives it.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string text = "include: absent.yaml\nname: n\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  const auto spec = load_spec("/proc/self/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("include names no file"));
}

TEST_F(Include, CyclesAreRefused) {
  write("a.yaml", "include: b.yaml\n");
  write("b.yaml", "\ninclude: a.yaml\n");
  EXPECT_THAT(refusal("include: a.yaml\nname: demo\n"),
              AllOf(HasSubstr("/b.yaml:2: include comes back to "), HasSubstr("/a.yaml")));
  EXPECT_THAT(refusal("include: spec.yaml\nname: demo\n"), HasSubstr("/spec.yaml:1: include comes back to"));
  // One file by two ways is no cycle.
  write_base();
  write("a.yaml", "include: base.yaml\n");
  write("b.yaml", "include: base.yaml\n");
  EXPECT_TRUE(load("include: [a.yaml, b.yaml]\nname: demo\npanels: [{id: one}]\n"));
}

TEST_F(Include, IsOfFilesAlone) {
  write_base();
  EXPECT_THAT(refusal("name: demo\npanels: [{id: one, include: base.yaml}]\n"),
              HasSubstr("unknown key 'include'"));
}

}  // namespace spec_document_test
}  // namespace hyfreedp::runner
