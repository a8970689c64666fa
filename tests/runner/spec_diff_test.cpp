// How two specs differ, and which changes re-train nothing: by plan, and by a run that trains.
#include "harness/runner/execute/spec_diff.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>

#include "harness/base/split.h"
#include "harness/base/text.h"
#include "results/table/table_options.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace spec_diff_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSpec = R"(name: one
title: First
noise_seed: s
panels:
  - id: p
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3, inf]
    delta: 1e-5
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}
      - {id: grid, method: nondp-gs, options: {grid: [1e-2, 1e-1]}}
)";

class Diff : public testing::Test {
 protected:
  Spec read(const std::string& yaml, const std::vector<std::string>& settings = {}) {
    const auto path = std::string(::testing::TempDir()) + fmt::format("spec-diff-{}.yaml", ::getpid());
    EXPECT_TRUE(write_file_atomically(path, yaml));
    auto spec = load_spec(path, "", settings);
    EXPECT_TRUE(spec) << spec.error().message;
    std::filesystem::remove(path);
    return std::move(*spec);
  }
  SpecDiff with(const std::vector<std::string>& settings, const std::string& yaml = kSpec) {
    auto diff = spec_diff(read(yaml), read(yaml, settings));
    EXPECT_TRUE(diff) << diff.error().message;
    return std::move(*diff);
  }
  // "trained panels.p.rows.fixed.options.lr 0.05 -> 0.1 (places)"
  static std::vector<std::string> lines(const SpecDiff& diff) {
    const std::map<DiffEffect, std::string> words = {{DiffEffect::shown, "shown"},
                                                     {DiffEffect::added, "added"},
                                                     {DiffEffect::dropped, "dropped"},
                                                     {DiffEffect::rows, "rows"},
                                                     {DiffEffect::trained, "trained"}};
    std::vector<std::string> all;
    for (const auto& one : diff.differences) {
      all.push_back(fmt::format("{} {} {}", words.at(one.effect), one.path, one.change));
      if (!one.places.empty()) all.back() += " (" + join(one.places, ", ") + ")";
    }
    return all;
  }
};

TEST_F(Diff, EqualSpecsHaveNone) {
  const auto diff = with({});
  EXPECT_THAT(diff.differences, IsEmpty());
  EXPECT_EQ(diff.runs.all, 12u);  // three rates, two seeds, two columns
  EXPECT_EQ(diff.runs.reused, 12u);
  EXPECT_EQ(diff.studies.all, 8u);
  EXPECT_EQ(diff.studies.reused, 8u);
  EXPECT_EQ(diff.selections.all, 0u);
}

TEST_F(Diff, WhatIsShownTrainsNothing) {
  const auto diff = with({"title=Second", "panels.p.rows.grid.title=G"});
  EXPECT_THAT(lines(diff),
              ElementsAre("shown title First -> Second", "shown panels.p.rows.grid.title NonDP-GS -> G"));
  EXPECT_EQ(diff.runs.reused, diff.runs.all);
  EXPECT_EQ(diff.studies.reused, diff.studies.all);
}

TEST_F(Diff, ASettingOfARowTrainsThatRow) {
  const auto diff = with({"panels.p.rows.fixed.options.lr=0.07"});
  EXPECT_THAT(lines(diff), ElementsAre("trained panels.p.rows.fixed.options.lr 0.05 -> 0.07"));
  EXPECT_EQ(diff.runs.all, 12u);
  EXPECT_EQ(diff.runs.reused, 8u);
  EXPECT_EQ(diff.studies.reused, 4u);
}

// What several places share is one line.
TEST_F(Diff, WhatAPanelGivesItsRowsIsOneLine) {
  EXPECT_THAT(lines(with({"panels.p.train.steps=9"})),
              ElementsAre("trained steps 6 -> 9 (panels.p, panels.p.rows.fixed, panels.p.rows.grid)"));
}

// Another grid asks for what is there, and is another row.
TEST_F(Diff, ARowOfKnownRunsIsPricedAnew) {
  const auto diff = with({"panels.p.rows.grid.options.grid=[1e-2]"});
  EXPECT_THAT(lines(diff), ElementsAre("rows panels.p.rows.grid.options.grid [0.01,0.1] -> [0.01]"));
  EXPECT_EQ(diff.runs.all, 8u);
  EXPECT_EQ(diff.runs.reused, 8u);
  EXPECT_EQ(diff.studies.reused, 4u);
}

TEST_F(Diff, ANameIsOfTheRowsAlone) {
  EXPECT_THAT(lines(with({"name=other"})), ElementsAre("rows name one -> other"));
}

TEST_F(Diff, DeltaIsOfTheNoiseOrOfNothing) {
  EXPECT_THAT(lines(with({"panels.p.delta=1e-6"})), ElementsAre("trained panels.p.delta 1e-05 -> 1e-06"));
  std::string plain = kSpec;
  plain.replace(plain.find("[3, inf]"), 8, "[inf]");
  EXPECT_THAT(lines(with({"panels.p.delta=1e-6"}, plain)), ElementsAre("rows panels.p.delta 1e-05 -> 1e-06"));
}

TEST_F(Diff, RowsAndPanelsThatAreNewOrGone) {
  const std::string row = "      - {id: grid, method: nondp-gs, options: {grid: [1e-2, 1e-1]}}\n";
  std::string without = kSpec;
  without.replace(without.find(row), row.size(), "");
  const auto gone = spec_diff(read(kSpec), read(without)).value();
  EXPECT_THAT(lines(gone), ElementsAre("dropped panels.p.rows.grid is gone"));
  EXPECT_EQ(gone.runs.all, 4u);
  EXPECT_EQ(gone.runs.reused, 4u);
  const auto added = spec_diff(read(without), read(kSpec)).value();
  EXPECT_THAT(lines(added), ElementsAre("added panels.p.rows.grid is new"));
  EXPECT_EQ(added.runs.reused, 4u);
  EXPECT_EQ(added.studies.reused, 4u);
  // A new row of runs that are there.
  const auto subset =
      read(std::string(kSpec) + "      - {id: less, method: nondp-gs, options: {grid: [1e-2]}}\n");
  EXPECT_THAT(lines(spec_diff(read(kSpec), subset).value()), ElementsAre("added panels.p.rows.less is new"));
}

TEST_F(Diff, AnotherOrderIsSeenAndTrainsNothing) {
  std::string turned = kSpec;
  const auto at = turned.find("      - {id: fixed");
  const auto next = turned.find("      - {id: grid");
  turned = turned.substr(0, at) + turned.substr(next) + turned.substr(at, next - at);
  const auto diff = spec_diff(read(kSpec), read(turned)).value();
  EXPECT_THAT(lines(diff), ElementsAre("shown panels.p.rows in another order"));
}

TEST_F(Diff, MoreSeedsReuseTheFirst) {
  const auto diff = with({"panels.p.seeds=[0, 1, 2]"});
  EXPECT_THAT(lines(diff), ElementsAre("added seeds [0,1] -> [0,1,2] (panels.p, panels.p.rows.fixed, "
                                       "panels.p.rows.grid)"));
  EXPECT_EQ(diff.runs.all, 18u);
  EXPECT_EQ(diff.runs.reused, 12u);
  const auto effect_of_seeds = [&](const char* seeds) {
    return with({std::string("panels.p.seeds=") + seeds}).differences.at(0).effect;
  };
  EXPECT_EQ(effect_of_seeds("[1]"), DiffEffect::dropped);
  EXPECT_EQ(effect_of_seeds("[1, 2]"), DiffEffect::trained);
}

// A choice with other options is one line; keys that only together are a spec have the effect of
// all.
TEST_F(Diff, ChoicesAndKeysThatChangeTogether) {
  EXPECT_THAT(lines(with({"panels.p.train.optimizer=sgd"})),
              ElementsAre("trained panels.p.optimizer adamw -> sgd"));
  EXPECT_THAT(lines(with({"panels.p.train.sample_rate=0.05"})),
              testing::UnorderedElementsAre("trained panels.p.sample_rate 0.1 -> 0.05",
                                            "trained panels.p.batch_size 200 -> 100"));
  std::string fixed_noise = kSpec;
  fixed_noise.replace(fixed_noise.find("epsilon: [3, inf]"), 17, "noise_multiplier: [2]");
  for (const auto& line : lines(with({"panels.p.noise_multiplier=[4]"}, fixed_noise)))
    EXPECT_THAT(line, testing::StartsWith("trained ")) << line;
}

// Its draws are from a key that is deleted at the end.
TEST_F(Diff, AnotherStudyOfAnUnseededSelectionDrawsAnew) {
  std::string drawn = kSpec;
  drawn += "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
  std::string unseeded = drawn;
  unseeded.replace(unseeded.find("noise_seed: s\n"), 14, "");
  for (const auto& [yaml, effect] : {std::pair{drawn, "rows"}, std::pair{unseeded, "trained"}}) {
    const auto diff = with({"name=other"}, yaml);
    EXPECT_THAT(lines(diff), ElementsAre(fmt::format("{} name one -> other", effect)));
    EXPECT_EQ(diff.selections.all, 2u);  // epsilon 3, two seeds
    EXPECT_EQ(diff.selections.reused, yaml == drawn ? 2u : 0u);
    EXPECT_EQ(diff.runs.all, 12u) << "without the selections'";
    const auto titled = with({"title=T"}, yaml);
    EXPECT_EQ(titled.selections.reused, 2u);
  }
}

// Keys of a spec that say only what is shown. Each is set in a spec that is complete, unseeded, and
// draws its runs: none is drawn or trained again, and every row is known.
const std::vector<std::string> kShown = {
    "title=Another",
    "description=Another",
    "assumed=[K = 5]",
    "contradictions=[5 and 10]",
    "figures=[{kind: curves}]",
    "regress={margin: {accuracy: 1}}",
    "panels.p.title=Another",
    "panels.p.footnotes=[Another]",
    "panels.p.table={ranks: true}",
    "panels.p.rows.fixed.title=Another",
    "panels.p.rows.fixed.footnote=Another",
    "panels.p.rows.fixed.footnotes=[Another]",
    "panels.p.rows.fixed.group=another",
};

// An option of `table` with another value than it has.
std::string setting_of_table(const OptionSpec& option) {
  std::string value = "true";
  if (option.type == OptionType::integer) value = "2";
  if (option.type == OptionType::real) value = "2.5";
  if (option.type == OptionType::text) value = "fixed";
  // The last metrics need what these runs do not record.
  if (option.type == OptionType::choice) value = option.name == "metric" ? "loss" : option.choices.back();
  return fmt::format("table={{{}: {}}}", option.name, value);
}

TEST_F(Diff, KeysOfWhatIsShownReTrainNothing) {
  std::string drawn = kSpec;
  drawn.replace(drawn.find("noise_seed: s\n"), 14, "");
  drawn += "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
  auto settings = kShown;
  for (const auto& option : results::table_options()) settings.push_back(setting_of_table(option));
  for (const char* table : {"rerr: {random: fixed, oracle: grid}", "columns: [time]", "cells: [median, n]",
                            "labels: {fixed: F}"}) {
    settings.push_back(fmt::format("table={{{}}}", table));
  }
  World world;
  FakeExecutor first;
  const auto whole = world.run(
      read(drawn), first, [] { return false; }, false);
  EXPECT_THAT(first.submitted, testing::Not(IsEmpty()));
  for (const auto& setting : settings) {
    const auto diff = with({setting}, drawn);
    EXPECT_THAT(diff.differences, testing::Not(IsEmpty())) << setting;
    for (const auto& one : diff.differences) EXPECT_EQ(one.effect, DiffEffect::shown) << setting;
    FakeExecutor again;
    const auto report = world.run(
        read(drawn, {setting}), again, [] { return false; }, false, {}, {}, /*replace=*/true);
    EXPECT_THAT(again.submitted, IsEmpty()) << setting;
    EXPECT_EQ(report.known_before, whole.studies) << setting;
  }
}

// The places of the leaves of a spec, without ids: "panels.rows.title".
std::map<std::string, json::value*> leaves_of(json::object& object, const std::string& prefix = "") {
  std::map<std::string, json::value*> leaves;
  for (auto& member : object) {
    const auto path = prefix + std::string(member.key());
    auto& value = member.value();
    if (value.is_object() && !value.get_object().empty()) {
      leaves.merge(leaves_of(value.get_object(), path + "."));
    } else if (value.is_array() && !value.get_array().empty() && value.get_array().front().is_object()) {
      leaves.merge(leaves_of(value.get_array().front().get_object(), path + "."));
    } else {
      leaves.emplace(path, &value);
    }
  }
  return leaves;
}

// Changed so that it is another value of its type.
bool change(json::value& value) {
  if (value.is_string()) return value = std::string(value.get_string()) + "-2", true;
  if (value.is_bool()) return value = !value.get_bool(), true;
  if (value.is_int64()) return value = value.get_int64() + 10, true;
  if (value.is_double()) return value = value.get_double() * 1.5, true;
  if (!value.is_array()) return false;
  if (value.get_array().empty()) return value.get_array().emplace_back("more"), true;
  return change(value.get_array().front());
}

// The same question asked of every key of the stored form: a new key that trains nothing is named
// here or this fails.
TEST_F(Diff, OfAllKeysTheseTrainNothing) {
  const auto before = read(std::string(kSpec) +
                           "    footnotes: [x]\n    table: {ranks: true}\n"
                           "assumed: [a]\ncontradictions: [c]\ndescription: d\ntable: {mdd: true}\n"
                           "figures: [{kind: curves, title: t, rows: [fixed], panels: [p], epsilons: [3]}]\n"
                           "regress: {power: 0.7}\n");
  auto all = as_json(before.content);
  std::set<std::string> shown, trained;
  for (const auto& [path, unused] : leaves_of(all)) {
    auto changed = as_json(before.content);
    if (!change(*leaves_of(changed).at(path))) continue;
    auto content = spec::read_spec(changed, "changed");
    if (!content) continue;  // words of a fixed list, which are tested where they are set
    auto now = before;
    now.content = std::move(*content);
    const auto diff = spec_diff(before, now);
    if (!diff) continue;
    const bool trains_nothing = std::ranges::all_of(
        diff->differences, [](const SpecDifference& one) { return one.effect == DiffEffect::shown; });
    (trains_nothing ? shown : trained).insert(path);
  }
  const std::vector<std::string> kFamilies = {"table.", "figures.", "regress.", "panels.table."};
  std::erase_if(shown, [&](const std::string& path) {
    return std::ranges::any_of(kFamilies,
                               [&](const std::string& family) { return path.starts_with(family); });
  });
  EXPECT_THAT(shown, testing::UnorderedElementsAre("title", "description", "assumed", "contradictions",
                                                   "panels.title", "panels.footnotes", "panels.rows.title",
                                                   "panels.rows.label", "panels.rows.footnotes",
                                                   // Facts of the data.
                                                   "panels.test", "panels.classes", "panels.dimension",
                                                   // The rows' own decide.
                                                   "panels.steps", "panels.seeds", "panels.epsilons"));
  for (const char* path :
       {"noise_seed", "panels.delta", "panels.rows.steps", "panels.rows.seeds", "panels.rows.epsilons",
        "panels.dataset.options.train", "panels.evaluate_every", "panels.optimizer.options.lr",
        "panels.rows.options.lr", "panels.clipping_constant"})
    EXPECT_TRUE(trained.contains(path) || path == std::string("panels.optimizer.options.lr")) << path;
}

}  // namespace spec_diff_test
}  // namespace hyfreedp::runner
