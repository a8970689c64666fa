// `noise_multiplier` in place of `epsilon`: what is read, planned and refused.
#include <algorithm>
#include <set>

#include "harness/mechanism/releases.h"
#include "harness/runner/execute/cell_plan.h"
#include "harness/runner/execute/study_run.h"
#include "tests/runner/spec_file.h"

namespace hyfreedp::runner {
namespace fixed_noise_spec_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string defaults(const std::string& columns) {
  return "name: demo\ndefaults:\n  dataset: {name: synthetic, train: 1000}\n  model: linear\n  seeds: [0, "
         "1]\n" +
         columns +
         "  delta: 1e-5\n  train: {sample_rate: 0.1, steps: 20, clipping: abadi, clipping_constant: 1, "
         "optimizer: sgd}\n";
}

const std::string kRows =
    "rows:\n"
    "  - {method: fixed-rate, options: {lr: 0.1}}\n"
    "  - {id: charged, method: dpsgd, options: {tuning: composed, candidates: 4, score_noise: 120}}\n";
const std::string kTwo = defaults("  noise_multiplier: [2, 4]\n") + kRows + "panels: [{id: p}]\n";

class FixedNoiseSpec : public WrittenSpec {
 protected:
  Spec loaded(const std::string& yaml) const {
    auto spec = load(yaml);
    if (!spec) throw std::runtime_error(spec.error().message);
    return *spec;
  }
  std::vector<PlannedStudy> planned(const std::string& yaml) const { return plan(loaded(yaml)).value(); }
};

TEST_F(FixedNoiseSpec, EachCellHasTheNoiseAndWhatItCosts) {
  const auto spec = loaded(kTwo);
  const auto& panel = spec.content.panels.at(0);
  EXPECT_THAT(panel.noise_multipliers, ElementsAre(2, 4));
  EXPECT_TRUE(panel.epsilons.empty());
  const auto studies = plan(spec).value();
  ASSERT_EQ(studies.size(), 2u * 2u * 2u);
  std::set<double> epsilons;
  for (const auto& study : studies) {
    const auto& cell = study.cell;
    ASSERT_TRUE(cell.noise_multiplier && cell.epsilon);
    epsilons.insert(*cell.epsilon);
    const auto wanted = study.baseline->next(cell, {}).value();
    EXPECT_EQ(wanted.size(), cell.row == "charged" ? 4u : 1u);
    std::vector<accounting::Event> all;
    for (const auto& config : wanted) {
      EXPECT_TRUE(config.privacy.is_private);
      EXPECT_EQ(config.privacy.gradient_noise, *cell.noise_multiplier);
      for (const auto& event : mechanism::events(config)) all.push_back(event);
    }
    const auto cost = accounting::report_epsilon({.events = all}, 1e-5)->epsilon;
    EXPECT_LE(cost, *cell.epsilon);
    EXPECT_GT(cost, *cell.epsilon * 0.998);
  }
  EXPECT_EQ(epsilons.size(), 4u);
}

// A cell of an epsilon has calibrated noise, and is no cell of fixed noise that costs as much.
TEST_F(FixedNoiseSpec, ACellOfTheSameEpsilonIsAnother) {
  const auto one = defaults("  noise_multiplier: 2\n") + "panels: [{id: p, rows: [fixed-rate]}]\n";
  const auto fixed = planned(one);
  const auto calibrated = planned(defaults(fmt::format("  epsilon: {}\n", fixed.at(0).cell.epsilon.value())) +
                                  "panels: [{id: p, rows: [fixed-rate]}]\n");
  ASSERT_EQ(fixed.size(), calibrated.size());
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    EXPECT_EQ(fixed[i].cell.epsilon, calibrated[i].cell.epsilon);
    EXPECT_NE(fixed[i].id, calibrated[i].id);
    EXPECT_FALSE(calibrated[i].cell.noise_multiplier);
  }
}

TEST_F(FixedNoiseSpec, PanelsOfBothKindsStandBesideEachOther) {
  const auto yaml = defaults("") +
                    "panels:\n  - {id: noise, noise_multiplier: [2], rows: [fixed-rate]}\n"
                    "  - {id: budget, epsilon: [1, inf], rows: [fixed-rate, hyfreedp]}\n";
  const auto json = resolved(yaml);
  const auto& panels = json.at("panels").as_array();
  EXPECT_TRUE(panels[0].as_object().contains("noise_multipliers"));
  EXPECT_FALSE(panels[1].as_object().contains("noise_multipliers"));
  for (const auto& study : planned(yaml)) {
    EXPECT_EQ(study.cell.noise_multiplier.has_value(), study.cell.panel == "noise");
  }
}

TEST_F(FixedNoiseSpec, ItComesBackFromItsJsonAndIsPricedAgain) {
  auto spec = loaded(kTwo);
  const auto written = as_json(spec.content);
  spec.content = spec::read_spec(written, "demo").value();
  EXPECT_EQ(canonical_json(as_json(spec.content)), canonical_json(written));
  const auto again = plan(spec);
  ASSERT_TRUE(again) << again.error().message;
  const auto first = planned(kTwo);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].id, (*again)[i].id);

  auto& row = spec.content.panels.at(0).rows.at(0);
  row.epsilons.at(1) *= 0.9;
  ASSERT_FALSE(plan(spec));
  EXPECT_THAT(plan(spec).error().message, HasSubstr("p, fixed-rate, noise_multiplier 4: it costs epsilon "));
  row.epsilons.pop_back();
  ASSERT_FALSE(plan(spec));
  EXPECT_THAT(plan(spec).error().message, HasSubstr("2 noise multipliers and 1 epsilons"));
}

TEST_F(FixedNoiseSpec, TheFileOfACellIsPlannedAgain) {
  const auto spec = loaded(kTwo);
  const auto& panel = spec.content.panels.at(0);
  auto alone = as_json(panel);
  alone.erase("rows");
  const auto studies = plan(spec).value();
  const auto& study = studies.at(2);  // of noise multiplier 4
  const auto config = study.baseline->next(study.cell, {}).value().front();
  json::object file{
      {"spec", {{"name", "demo"}}},
      {"panel", alone},
      {"row", as_json(panel.rows.at(0))},
      {"column", *study.cell.epsilon},
      {"seeds", json::array{json::object{
                    {"seed", study.cell.seed}, {"study", study.id}, {"config", config.to_json()}}}}};
  const auto agrees = [](const json::object& one) {
    return std::ranges::all_of(plan_checks(one), [](const auto& check) { return check.agrees; });
  };
  EXPECT_TRUE(agrees(file));
  auto other = file;
  other.at("panel").at("noise_multipliers") = {2, 5};
  EXPECT_FALSE(agrees(other)) << "it does not cost that";
  other = file;
  other["column"] = 0.5;
  EXPECT_FALSE(agrees(other));
}

TEST_F(FixedNoiseSpec, WhatHasNoMeaningIsRefused) {
  const std::string rest = "panels: [{id: p, rows: [fixed-rate]}]\n";
  for (const auto& [columns, says] :
       {std::pair{"  noise_multiplier: [2]\n  epsilon: [1]\n",
                  "defaults.noise_multiplier and 'epsilon' exclude each other; keep one"},
        {"  noise_multiplier: [2, inf]\n", "must be positive and finite (without noise: epsilon: [inf])"},
        {"  noise_multiplier: 0\n", "must be positive and finite"},
        {"  noise_multiplier: [-1]\n", "must be positive and finite"},
        {"  noise_multiplier: [nan]\n", "noise_multiplier"},
        {"  noise_multiplier: [2, 2.0]\n", "repeats a noise multiplier"},
        {"  noise_multiplier: []\n", "must have at least one noise multiplier"},
        {"  noise_multiplier: [1e9]\n", "p, fixed-rate, noise_multiplier 1000000000: it costs epsilon 0"},
        {"", "epsilon"}}) {
    EXPECT_THAT(refusal(defaults(columns) + rest), HasSubstr(says)) << columns;
  }
  const auto fixed = defaults("  noise_multiplier: [2]\n");
  EXPECT_THAT(refusal(fixed + "panels: [{id: p, epsilon: [1], rows: [fixed-rate]}]\n"),
              HasSubstr("exclude each other"));
  EXPECT_THAT(refusal(fixed + "panels: [{id: p, rows: [{method: fixed-rate, epsilon: [1]}]}]\n"),
              HasSubstr("is not read beside the panel's 'noise_multiplier'"));
  EXPECT_THAT(refusal(fixed + "panels: [{id: p, rows: [{method: fixed-rate, noise_multiplier: 2}]}]\n"),
              HasSubstr("noise_multiplier"));
  EXPECT_THAT(refusal(fixed + "panels: [{id: p, train: {sampler: shuffle}, rows: [fixed-rate]}]\n"),
              HasSubstr("shuffle cannot be priced"));
  EXPECT_THAT(refusal(fixed + "panels: [{id: p, train: {clipping: none}, rows: [fixed-rate]}]\n"),
              HasSubstr("none is not private"));
  for (const auto& method : baselines::registry()) {
    const auto said = refusal(fixed + fmt::format("panels: [{{id: p, rows: [{}]}}]\n", method.name));
    if (method.needs_epsilon.empty()) {
      EXPECT_EQ(said, "");
      continue;
    }
    EXPECT_THAT(said, HasSubstr(fmt::format("cannot have a fixed 'noise_multiplier': {} {}; give the panel "
                                            "'epsilon' instead",
                                            method.name, method.needs_epsilon)));
  }
}

TEST_F(FixedNoiseSpec, ThePapersCellsAreFoundByEpsilon) {
  EXPECT_THAT(refusal("reproduces: {paper: demo, id: table 2}\n" + defaults("  noise_multiplier: [2]\n") +
                      "panels: [{id: p, paper: {row: [\"1\", \"{row}\"], columns: [ViT, CIFAR10]}, "
                      "rows: [{method: fixed-rate, paper: Grid}]}]\n"),
              HasSubstr("paper needs 'epsilon', by which the paper's cells are found"));
}

// Whatever a method asks for later than it was priced.
TEST_F(FixedNoiseSpec, ARunWithOtherNoiseIsNotBegun) {
  for (const double noise : {2.0, 1.9}) {
    auto study = planned(kTwo).at(0);
    baselines::Baseline method = *study.baseline;
    method.next = [noise](
                      const baselines::Cell& cell,
                      std::span<const baselines::FinishedTrial>) -> Result<std::vector<trial::TrialConfig>> {
      auto config = cell.base;
      config.privacy.gradient_noise = noise;
      return std::vector{config};
    };
    study.baseline = &method;
    StudyRun run(study, "demo");
    EXPECT_EQ(run.advance().size(), noise == 2 ? 1u : 0u);
    if (noise == 2) continue;
    EXPECT_EQ(run.outcome().state, results::StudyState::failed);
    EXPECT_THAT(run.outcome().failure_message, HasSubstr("noise multiplier 1.9 where the spec fixes 2"));
  }
}

}  // namespace fixed_noise_spec_test
}  // namespace hyfreedp::runner
