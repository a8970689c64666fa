// Calibrations are computed once for all cells of a spec. What an answer depends on must be in its
// key: two cells that differ in one setting that matters get two noises, whichever was asked for
// first.
#include "baselines/calibrations.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baselines/linear_settings.h"
#include "baselines/support.h"
#include "fake_world.h"
#include "harness/mechanism/releases.h"

namespace hyfreedp::baselines {
namespace {

int calls = 0;

Result<double> counted(const double& one, const std::vector<double>& other, const std::string& text) {
  ++calls;
  return one + static_cast<double>(other.size()) + static_cast<double>(text.size());
}

Result<double> negated(const double& one, const std::vector<double>& other, const std::string& text) {
  return -counted(one, other, text).value();
}

TEST(Calibrations, ComputesOncePerFunctionAndArguments) {
  Calibrations known;
  calls = 0;
  EXPECT_EQ(known.answer(counted, 1, {2, 3}, "x").value(), 4);
  EXPECT_EQ(known.answer(counted, 1, {2, 3}, "x").value(), 4);
  EXPECT_EQ(calls, 1);
  known.answer(counted, 1.0000000000000002, {2, 3}, "x").value();
  known.answer(counted, 1, {2, 4}, "x").value();
  known.answer(counted, 1, {23}, "x").value();
  known.answer(counted, 1, {2, 3}, "y").value();
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(known.answer(negated, 1, {2, 3}, "x").value(), -4);
  EXPECT_EQ(Calibrations().answer(counted, 1, {2, 3}, "x").value(), 4);
  EXPECT_EQ(calls, 7);
}

Result<double> refuses(const double& /*unused*/) {
  ++calls;
  return error("no");
}

TEST(Calibrations, KeepErrorsToo) {
  Calibrations known;
  calls = 0;
  EXPECT_FALSE(known.answer(refuses, 1));
  EXPECT_FALSE(known.answer(refuses, 1));
  EXPECT_EQ(calls, 1);
}

TEST(Calibrations, ACellWithoutThemComputes) {
  Cell cell;
  calls = 0;
  EXPECT_FALSE(calibrated(cell, refuses, 1));
  EXPECT_FALSE(calibrated(cell, refuses, 1));
  EXPECT_EQ(calls, 2);
  cell.calibrations = std::make_shared<Calibrations>();
  const auto other = cell;
  EXPECT_FALSE(calibrated(cell, refuses, 1));
  EXPECT_FALSE(calibrated(other, refuses, 1));
  EXPECT_EQ(calls, 3);
}

const Baseline& method(const std::string& name, const json::object& options) {
  const auto& entry = *find_baseline(name).value();
  return reading_of(entry, resolve_options(entry.options, options, name).value());
}

using Change = std::function<void(Cell&)>;

Change option(const std::string& name, json::value value) {
  return [name, value = std::move(value)](Cell& cell) { cell.options[name] = value; };
}

// All noises of the first runs, as text.
std::string noises(const std::string& name, const json::object& options, const Change& change) {
  const auto& baseline = method(name, options);
  auto cell = fake::cell_of(baseline, 3, options);
  cell.draw_secret = "one";  // a count of runs above 0
  change(cell);
  const auto wanted = baseline.next(cell, {}).value();
  EXPECT_FALSE(wanted.empty()) << name;
  std::string text;
  for (const auto& config : wanted) {
    text += fmt::format("{} {};", config.privacy.gradient_noise,
                        config.privacy.probe ? config.privacy.probe->noise : 0);
  }
  return text;
}

void with_mean(Cell& cell, double noise) {
  cell.base.privacy.asked.feature_mean = trial::FeatureMean{1, noise};
}
void with_count(Cell& cell, double noise) {
  cell.base.privacy.clipping.rule = trial::ClippingRule::adaptive;
  cell.base.privacy.clipping.adaptive = trial::AdaptiveThreshold{.count_noise = noise};
}

struct Case {
  std::string method;
  json::object options;
  std::map<std::string, Change> further = {};
};

// What changes the price of every method's runs.
std::map<std::string, Change> everywhere() {
  return {{"epsilon", [](Cell& cell) { cell.epsilon = 2; }},
          {"delta", [](Cell& cell) { cell.delta *= 0.5; }},
          {"steps", [](Cell& cell) { cell.base.steps = 13; }},
          {"rate",
           [](Cell& cell) {
             cell.base.privacy.sample_rate = 0.05;
             cell.base.privacy.batch_size = 100;
           }},
          {"mean", [](Cell& cell) { with_mean(cell, 40); }},
          {"another mean", [](Cell& cell) { with_mean(cell, 50); }},
          {"count", [](Cell& cell) { with_count(cell, 40); }},
          {"another count", [](Cell& cell) { with_count(cell, 50); }},
          {"mean and count",
           [](Cell& cell) {
             with_mean(cell, 40);
             with_count(cell, 40);
           }},
          {"mean and another count", [](Cell& cell) {
             with_mean(cell, 40);
             with_count(cell, 50);
           }}};
}

TEST(Calibrations, NoTwoSettingsThatMatterShareANoise) {
  const std::vector<Case> cases = {
      {"fixed-rate", {{"lr", 0.01}}},
      {"nondp-gs", {{"grid", {0.01}}}},
      {"dpsgd",
       {{"tuning", "composed"}, {"rates", {0.01}}, {"thresholds", {0.5, 1.0}}, {"score_noise", 300}}},
      {"dp-hyper",
       {{"grid", {0.01, 0.1}}, {"score_noise", 300}, {"runs", "geometric"}},
       {{"runs", option("runs", "logarithmic")}, {"mean", option("mean_runs", 5.0)}}},
      {"hyfreedp",
       {{"accounting", "folded"}},
       {{"interval", option("interval", 3)},
        {"pairs", option("pairs", 2)},
        {"gamma", option("gamma", 1.02)},
        {"accounting", option("accounting", "separate-batch")},
        {"accountant", [](Cell& cell) { cell.accountant = "rdp"; }},
        {"probe rate",
         [](Cell& cell) {
           cell.options["accounting"] = "separate-batch";
           cell.options["probe_sample_rate"] = 0.2;
         }}}},
  };
  for (const auto& [name, options, further] : cases) {
    std::map<std::string, std::string> seen;  // noises, the setting that gave them
    auto changes = everywhere();
    if (name == "dpsgd") {  // clips by a threshold of its own, without a count
      std::erase_if(changes,
                    [](const auto& change) { return change.first.find("count") != std::string::npos; });
    }
    for (const auto& [what, change] : further) changes["own " + what] = change;
    changes["base"] = [](Cell&) {};
    for (const auto& [what, change] : changes) {
      const auto text = noises(name, options, change);
      const auto [known, is_new] = seen.emplace(text, what);
      EXPECT_TRUE(is_new) << name << ": " << what << " has the noise of " << known->second << ", " << text;
    }
  }
}

// Scores are paid on another split: their noise changes whether a selection can be made at all.
TEST(Calibrations, SelectionsWithOtherScores) {
  const auto runs = [](double score_noise) {
    const json::object options{{"grid", {0.01, 0.1}}, {"score_noise", score_noise}};
    const auto& baseline = method("dp-hyper", options);
    auto cell = fake::cell_of(baseline, 3, options);
    cell.draw_secret = "one";
    return baseline.next(cell, {}).value().size();
  };
  EXPECT_GT(runs(300), 0U);
  EXPECT_EQ(runs(0.1), 0U);
  EXPECT_GT(runs(300), 0U);
}

// The sampled search of linear scaling, whose noises are all known before its first run.
TEST(Calibrations, LinearScalingsSampledSearch) {
  const json::object options{{"batch", "sampled"}, {"decompose", "fixed-t"}, {"t_max", 6}, {"r_max", 8}};
  std::map<std::string, std::string> seen;
  const auto expect_own = [&](const std::string& what, const Change& change) {
    const auto [known, is_new] = seen.emplace(noises("linear-scaling", options, change), what);
    EXPECT_TRUE(is_new) << what << " has the noises of " << known->second;
  };
  expect_own("base", [](Cell&) {});
  expect_own("epsilon", [](Cell& cell) { cell.epsilon = 2; });
  expect_own("delta", [](Cell& cell) { cell.delta *= 0.5; });
  expect_own("steps", option("t_max", 7));
  expect_own("share", option("share1", 0.15));
  expect_own("mean", [](Cell& cell) { with_mean(cell, 400); });
  expect_own("another mean", [](Cell& cell) { with_mean(cell, 500); });
  expect_own("rate", [](Cell& cell) {
    cell.base.privacy.sample_rate = 0.05;
    cell.base.privacy.batch_size = 100;
  });
}

// Plans that differ in what no event has share a calibration, and only those.
TEST(Calibrations, TheThresholdChangesNoPrice) {
  trial::PrivacyPlan plan;
  plan.population = 2000;
  plan.sample_rate = 0.1;
  plan.batch_size = 200;
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = 0.5;
  plan.gradient_noise = 1;
  plan.asked.feature_mean = trial::FeatureMean{1, 40};
  const auto same = same_price(plan);
  EXPECT_EQ(accounting::events_to_json({.events = mechanism::events(same, 0, 5)}),
            accounting::events_to_json({.events = mechanism::events(plan, 0, 5)}));
  auto other = plan;
  other.clipping.constant = 2;
  EXPECT_EQ(canonical_json(same_price(other).to_json()), canonical_json(same.to_json()));
  other.asked.feature_mean->noise = 41;
  EXPECT_NE(canonical_json(same_price(other).to_json()), canonical_json(same.to_json()));
}

}  // namespace
}  // namespace hyfreedp::baselines
