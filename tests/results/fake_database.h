// A made-up database with the shape of experiments/quick.yaml: 2 panels, 12 rows, epsilon 1, 3, 8
// and none, 3 seeds (1 in the second panel), 250 steps. Nothing in it was measured; curves and
// accuracies only look plausible. It has one of everything that writers must cope with: a cell that
// failed, a cell with one failed seed, a cell not run yet, a row without a non-private arm, private
// selection, paper accounting, characters that need escaping, confidential values.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "results/store/store.h"

namespace hyfreedp::fake {

// Must never show up in an output that was not asked for confidential values.
inline constexpr double kPlantedConfidential = 0.777123;
inline constexpr const char* kPlantedText = "77.7123";
inline constexpr const char* kPlantedDigits = "777123";
inline constexpr int kSteps = 250;

struct Method {
  std::string row;
  std::string method;
  std::string title;
  std::string label;
  std::vector<double> accuracy;  // percent at epsilon 1, 3, 8, non-private
  double spread = 0.35;
  std::string controller = "constant";
  std::string flag = {};
  bool non_private = true;
  std::string optimizer = "adamw";
};

inline std::vector<Method> methods() {
  const std::string oracle = "oracle", dp = "end-to-end DP";
  const std::string paper = "paper accounting: epsilon understated";
  return {
      {"nondp-gs", "nondp-gs", "NonDP-GS, paper's grid", oracle, {85.2, 86.4, 87.0, 88.0}},
      {"nondp-gs-wide", "nondp-gs", "NonDP-GS, wide grid", oracle, {86.5, 87.3, 87.7, 89.1}},
      {"dp-hyper",
       "dp-hyper",
       "DP-hyper, private selection",
       dp,
       {84.8, 86.5, 87.2, 0},
       0.5,
       "constant",
       "",
       false},
      {"dp-hyper-simulated",
       "dp-hyper-simulated",
       "DP-hyper, simulated 85 %",
       "simulated",
       {86.4, 87.2, 87.7, 0},
       0.3,
       "constant",
       "",
       false},
      {"d-adaptation",
       "d-adaptation",
       "D-Adaptation (Adam)",
       dp,
       {85.7, 87.1, 87.8, 88.6},
       0.35,
       "constant",
       "",
       true,
       "d-adapt-adam"},
      {"prodigy", "prodigy", "Prodigy", dp, {86.8, 87.6, 88.1, 89.0}, 0.1, "constant", "", true, "prodigy"},
      {"linear-scaling",
       "linear-scaling",
       "Linear scaling <r = η·T>",
       dp,
       {84.9, 83.1, 83.7, 0},
       0.6,
       "constant",
       "",
       false},
      {"dpadamwosm", "dpadamwosm", "DPAdamWOSM", dp, {82.6, 84.4, 85.2, 86.0}, 0.2},
      {"hyfreedp-paper",
       "hyfreedp",
       "HyFreeDP, same batch, paper accounting",
       dp,
       {62.8, 81.3, 84.4, 85.9},
       1.5,
       "hyfreedp",
       paper},
      {"hyfreedp-folded",
       "hyfreedp",
       "HyFreeDP, same batch, folded",
       dp,
       {61.9, 79.0, 83.9, 85.9},
       1.5,
       "hyfreedp"},
      {"hyfreedp-separate",
       "hyfreedp",
       "HyFreeDP, separate batch",
       dp,
       {62.1, 80.9, 84.6, 85.9},
       1.2,
       "hyfreedp"},
      {"hyfreedp-plus",
       "hyfreedp-plus",
       "HyFreeDP+ (ours)",
       dp,
       {86.0, 87.3, 87.6, 88.5},
       0.3,
       "hyfreedp-plus"},
  };
}

inline results::SpecRecord spec() {
  json::array panels;
  const json::array epsilons{1, 3, 8, "inf"};
  const json::array private_only{1, 3, 8};
  for (const bool mlp : {false, true}) {
    const json::array seeds = mlp ? json::array{0} : json::array{0, 1, 2};
    json::array rows;
    for (const auto& method : methods()) {
      json::array footnotes;
      if (method.row == "linear-scaling") footnotes.emplace_back("Full batches: fewer seeds fit the time.");
      rows.push_back({{"id", method.row},
                      {"method", method.method},
                      {"title", method.title},
                      {"label", method.label},
                      {"options", json::object{}},
                      {"seeds", seeds},
                      {"epsilons", method.non_private ? epsilons : private_only},
                      {"footnotes", footnotes}});
    }
    json::array footnotes;
    if (mlp) footnotes.emplace_back("One seed in this panel.");
    panels.push_back({{"id", mlp ? "mlp" : "linear"},
                      {"title", mlp ? "Fashion-MNIST, HOG features, MLP 716-128-10"
                                    : "Fashion-MNIST, HOG features, linear head"},
                      {"dimension", mlp ? 93066 : 7170},
                      {"population", 50000},
                      {"validation", 10000},
                      {"test", 10000},
                      {"classes", 10},
                      {"steps", kSteps},
                      {"sample_rate", 0.02},
                      {"batch_size", 1000},
                      {"clipping", "auto-s"},
                      {"optimizer", {{"name", "adamw"}, {"options", json::object{}}}},
                      {"delta", 6.778e-6},
                      {"seeds", seeds},
                      {"epsilons", epsilons},
                      {"footnotes", footnotes},
                      {"rows", rows}});
  }
  results::SpecRecord record;
  record.name = "fake";
  record.hash = "0123456789abcdef0123456789abcdef";
  record.resolved = {
      {"name", "fake"},
      {"title", "Seven methods on Fashion-MNIST (made-up numbers)"},
      {"description", "A made-up database that looks like the main job & shows <every> kind of cell."},
      {"noise_seed", "fake"},
      {"panels", panels}};
  record.text = "name: fake\n# <made up> & \"quoted\"\npanels: []\n";
  record.version = "0.1.0 (made up)";
  return record;
}

class Maker {
 public:
  explicit Maker(results::Store& store) : store_(store) {}

  Result<void> fill() {
    if (auto put = store_.put_spec(spec()); !put) return put.error();
    for (const bool mlp : {false, true}) {
      const auto all = methods();
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t e = 0; e < 4; ++e) {
          if (e == 3 && !all[i].non_private) continue;
          for (int seed = 0; seed < (mlp ? 1 : 3); ++seed) {
            if (auto put = put_cell(mlp, all[i], i, e, seed); !put) return put.error();
          }
        }
      }
    }
    return {};
  }

 private:
  static constexpr double kEpsilons[] = {1, 3, 8};

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }

  // A rate that climbs and settles, or dies out, with noise.
  double eta(const Method& method, int step, std::size_t e) {
    const double t = step / static_cast<double>(kSteps);
    const double noise = std::exp(0.25 * normal());
    if (method.row == "hyfreedp-plus") return noise * (1e-4 + 0.02 / (1 + std::exp(-20 * (t - 0.15))));
    if (method.method == "hyfreedp") return noise * 1e-4 * std::exp((static_cast<double>(e) - 2.5) * 3 * t);
    if (method.method == "prodigy") return 1e-6 + 0.018 / (1 + std::exp(-30 * (t - 0.2)));
    if (method.method == "d-adaptation") return 1e-6 + 0.012 / (1 + std::exp(-40 * (t - 0.1)));
    return 0.01;
  }

  Result<void> put_cell(bool mlp, const Method& method, std::size_t i, std::size_t e, int seed) {
    results::StudyRecord study;
    study.spec = "fake";
    study.panel = mlp ? "mlp" : "linear";
    study.row = method.row;
    study.method = method.method;
    study.seed = seed;
    if (e < 3) study.epsilon_target = kEpsilons[e];
    study.delta = 6.778e-6;
    study.id =
        "study-" + study.panel + "-" + method.row + "-" + std::to_string(e) + "-" + std::to_string(seed);
    if (mlp && method.row == "prodigy" && e == 2) return store_.put_study(study);  // open
    study.label = e == 3 ? "non-private" : method.label;
    if (!method.flag.empty() && e < 3) {
      study.flags.push_back(method.flag);
      study.claimed_epsilon = study.epsilon_target;
    }
    if (method.row == "linear-scaling" && e == 0)
      return fail(study, "infeasible-epsilon", "the search leaves no budget.");
    const bool selection = method.row == "dp-hyper";
    const int runs = selection ? 3 + seed : method.method == "nondp-gs" ? 2 : 1;
    for (int run = 0; run < runs; ++run) {
      auto trial = put_trial(study, method, i, e, seed, run, mlp);
      if (!trial) return trial.error();
      study.trials.push_back(*trial);
      study.seconds += 0.8;
    }
    if (method.row == "hyfreedp-folded" && e == 0 && seed == 2) {
      return fail(study, "diverged", "the private loss was not finite at step 31.");
    }
    study.state = results::StudyState::concluded;
    study.reported_trial = study.trials.front();
    using Rule = trial::Composition::Rule;
    study.composition = {.rule = e == 3 ? Rule::none : selection ? Rule::selection : Rule::trial};
    if (study.epsilon_target) {
      accounting::ReportedEpsilon epsilon;
      const double spent = *study.epsilon_target * (method.flag.empty() ? 0.9999 : 1.31);
      epsilon.epsilon = spent;
      epsilon.epsilon_lower = spent * 0.998;
      epsilon.delta = study.delta;
      if (!selection) epsilon.pld = spent;
      epsilon.rdp = spent * (selection ? 1 : 1.08);
      epsilon.rdp_order = 12.5;
      epsilon.accountant = selection ? "rdp" : "pld";
      study.total = epsilon;
      epsilon.epsilon *= selection ? 0.55 : 1;
      study.training = epsilon;
    }
    return store_.put_study(study);
  }

  Result<void> fail(results::StudyRecord& study, const std::string& kind, const std::string& message) {
    study.state = results::StudyState::failed;
    study.failure_kind = kind;
    study.failure_message = message;
    return store_.put_study(study);
  }

  Result<std::string> put_trial(const results::StudyRecord& study, const Method& method, std::size_t i,
                                std::size_t e, int seed, int run, bool mlp) {
    results::TrialRecord trial;
    trial.id = "trial-" + study.panel + "-" + method.row + "-" + std::to_string(e) + "-" +
               std::to_string(seed) + "-" + std::to_string(run);
    const std::string sampler = method.row == "linear-scaling" ? "full-batch" : "poisson";
    trial.config = {
        {"optimizer", {{"name", method.optimizer}, {"options", json::object{}}}},
        {"controller", {{"name", method.controller}, {"options", json::object{}}}},
        {"privacy", {{"sampler", sampler}, {"sample_rate", 0.02}, {"gradient_noise", e == 3 ? 0.0 : 1.493}}},
        {"steps", kSteps},
        {"seed", seed}};
    trial.state = trial::TrialState::finished;
    trial.fingerprint = {{"version", "0.1.0"}, {"device", "cpu"}, {"capability", "AVX2"}, {"threads", 1}};
    trial.seconds = 0.7 + 0.3 * uniform();
    if (e < 3) trial.events.push_back(accounting::poisson_gaussian(0.02, 1.493, kSteps));
    if (method.controller == "hyfreedp") trial.counts = {{"accepted", 21}, {"H_nonpositive", 29}};

    const double final_accuracy =
        (method.accuracy[e] - (mlp ? 0.6 + 0.05 * static_cast<double>(i) : 0) + method.spread * normal()) /
        100;
    std::vector<trial::StepRecord> steps;
    std::vector<trial::MetricRecord> metrics;
    for (int step = 0; step < kSteps; ++step) {
      trial::StepRecord record{.step = step, .hash = "00", .scalars = {}};
      const bool owns_step = method.optimizer != "adamw";
      record.scalars["eta"] = owns_step ? 1 : eta(method, step, e);
      if (owns_step) record.scalars["d"] = eta(method, step, e);
      steps.push_back(std::move(record));
      if ((step + 1) % 25 != 0 && step != 0) continue;
      const double t = static_cast<double>(step + 1) / kSteps;
      const double loss =
          2.303 * std::exp(-9 * t) + (1 - std::exp(-9 * t)) * (2.1 - 1.9 * final_accuracy + 0.02 * uniform());
      metrics.push_back({step + 1, "test", "loss", loss, trial::Visibility::test});
      metrics.push_back({step + 1, "test", "accuracy",
                         final_accuracy * (1 - std::exp(-12 * t)) / (1 - std::exp(-12)),
                         trial::Visibility::test});
    }
    metrics.push_back(
        {kSteps, "private_validation", "accuracy", kPlantedConfidential, trial::Visibility::confidential});
    if (auto put = store_.put_trial(trial, steps, metrics); !put) return put.error();
    return trial.id;
  }

  results::Store& store_;
  std::mt19937_64 random_{7};
};

inline Result<void> fill(results::Store& store) { return Maker(store).fill(); }

}  // namespace hyfreedp::fake
