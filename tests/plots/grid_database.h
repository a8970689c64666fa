// A made-up database of grids, as papers that tune by hand have them: rows of two groups for every
// combination, a search that has its runs in one row, a private selection, and a probing
// controller. Numbers follow from formulas given here.
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <utility>

#include "results/store/records.h"
#include "results/table/table_model.h"

namespace hyfreedp::grid {

inline constexpr double kSteps = 60;
inline const std::vector<double> kRates = {0.001, 0.01, 0.1, 1};
inline const std::vector<double> kThresholds = {0.1, 0.2, 0.5, 1, 2};
inline const std::vector<double> kBetas = {0.8, 0.9, 0.95, 0.99};
inline constexpr double kOfSelection =
    12.34;  // accuracy of a losing run of the private selection: must not be seen

// The best is at rate * threshold = 0.05, percent.
inline double accuracy_of(double rate, double threshold, int seed) {
  const double away = std::log10(rate * threshold / 0.05);
  return 84 - 6 * away * away + 0.4 * std::log10(threshold) + 0.3 * (seed - 0.5);
}
inline double adam_accuracy_of(double rate, double beta, int seed) {
  const double away = std::log10(rate / 0.001);
  return 83 - 9 * away * away - 8 * std::abs(beta - 0.9) + 0.3 * (seed - 0.5);
}

class Maker {
 public:
  // Called with each trial before it is stored.
  using Change = std::function<void(results::TrialRecord&, std::vector<trial::StepRecord>&)>;
  explicit Maker(results::Store& store, Change change = {}) : store_(store), change_(std::move(change)) {}

  Result<void> fill(const json::array& figures, bool with_selection = true) {
    with_selection_ = with_selection;
    if (auto put = store_.put_spec(spec(figures)); !put) return put.error();
    for (const double epsilon : {1.0, 3.0}) {
      for (int seed = 0; seed < 2; ++seed) {
        for (const auto& one : trials_of_rows(epsilon, seed)) {
          if (auto put = put_study(one, epsilon, seed); !put) return put;
        }
      }
    }
    return {};
  }

 private:
  using Rule = trial::Composition::Rule;
  struct Row {
    std::string id, method;
    Rule rule;
    struct One {
      json::object config;
      double accuracy;
      bool probes;
    };
    std::vector<One> runs;
  };

  json::object row(const std::string& id, const std::string& method, const std::string& title,
                   const std::string& group) {
    json::object made{{"id", id},
                      {"method", method},
                      {"title", title},
                      {"label", "end-to-end DP"},
                      {"options", json::object{}},
                      {"footnotes", json::array{}}};
    if (!group.empty()) made["group"] = group;
    return made;
  }

  results::SpecRecord spec(const json::array& figures) {
    json::array rows;
    for (const double rate : kRates) {
      for (const double threshold : kThresholds) {
        rows.push_back(row(sgd_id(rate, threshold), "dpsgd",
                           fmt::format("DPSGD, rate {}, C {}", rate, threshold), "DPSGD"));
      }
      for (const double beta : kBetas) {
        rows.push_back(
            row(adam_id(rate, beta), "dpadam", fmt::format("DPAdam, rate {}, β₁ {}", rate, beta), "DPAdam"));
      }
    }
    rows.push_back(row("search", "nondp-gs", "NonDP-GS, all rates in one row", ""));
    if (with_selection_) rows.push_back(row("selection", "dp-hyper", "DP-hyper", ""));
    rows.push_back(row("free", "hyfreedp", "HyFreeDP", ""));
    results::SpecRecord record;
    record.name = "grid";
    record.hash = "0123";
    record.version = "0.0.0";
    record.text = "name: grid\n";
    record.resolved = {{"name", "grid"},
                       {"title", "Grids"},
                       {"description", "Made up."},
                       {"noise_seed", nullptr},
                       {"panels",
                        {{{"id", "p"},
                          {"title", "Adult, logistic regression"},
                          {"dimension", 785},
                          {"steps", kSteps},
                          {"delta", 1e-5},
                          {"seeds", {0, 1}},
                          {"epsilons", {1, 3}},
                          {"footnotes", json::array{}},
                          {"rows", rows}}}}};
    if (!figures.empty()) record.resolved["figures"] = figures;
    return record;
  }

  static std::string sgd_id(double rate, double threshold) {
    return fmt::format("sgd-{}-{}", rate, threshold);
  }
  static std::string adam_id(double rate, double beta) { return fmt::format("adam-{}-{}", rate, beta); }

  static json::object config(const std::string& optimizer, double rate, double threshold, double beta,
                             int seed) {
    json::object options;
    if (optimizer == "adamw") options = {{"beta1", beta}, {"beta2", 0.999}};
    return {{"optimizer", {{"name", optimizer}, {"options", options}}},
            {"controller", {{"name", "constant"}, {"options", {{"lr", rate}}}}},
            {"privacy",
             {{"is_private", true},
              {"clipping_constant", threshold},
              {"sample_rate", 0.05},
              {"gradient_noise", 2.0}}},
            {"steps", static_cast<int>(kSteps)},
            {"seed", seed}};
  }

  std::vector<Row> trials_of_rows(double epsilon, int seed) {
    std::vector<Row> rows;
    const double worse = epsilon == 1 ? -2 : 0;
    for (const double rate : kRates) {
      for (const double threshold : kThresholds) {
        rows.push_back(
            {sgd_id(rate, threshold),
             "dpsgd",
             Rule::trial,
             {{config("sgd", rate, threshold, 0, seed), accuracy_of(rate, threshold, seed) + worse, false}}});
      }
      for (const double beta : kBetas) {
        rows.push_back(
            {adam_id(rate, beta),
             "dpadam",
             Rule::trial,
             {{config("adamw", rate, 1, beta, seed), adam_accuracy_of(rate, beta, seed) + worse, false}}});
      }
    }
    Row search{"search", "nondp-gs", Rule::trial, {}};
    for (const double rate : kRates) {
      search.runs.push_back(
          {config("adamw", rate, 1, 0.9, seed), adam_accuracy_of(rate, 0.9, seed) + worse + 0.5, false});
    }
    rows.push_back(std::move(search));
    if (with_selection_) {
      rows.push_back({"selection",
                      "dp-hyper",
                      Rule::selection,
                      {{config("adamw", 0.002, 1, 0.9, seed), 82 + worse, false},
                       {config("adamw", 0.5, 1, 0.9, seed), kOfSelection, false}}});
    }
    auto free = config("adamw", 0, 1, 0.9, seed);
    free["controller"] = json::object{{"name", "hyfreedp"}, {"options", json::object{}}};
    rows.push_back({"free", "hyfreedp", Rule::trial, {{free, 83.5 + worse + 0.2 * seed, true}}});
    return rows;
  }

  Result<void> put_study(const Row& row, double epsilon, int seed) {
    results::StudyRecord study;
    study.id = fmt::format("study-{}-{}-{}", row.id, epsilon, seed);
    study.spec = "grid";
    study.panel = "p";
    study.row = row.id;
    study.method = row.method;
    study.epsilon_target = epsilon;
    study.delta = 1e-5;
    study.seed = seed;
    study.state = results::StudyState::concluded;
    study.label = "end-to-end DP";
    for (std::size_t i = 0; i < row.runs.size(); ++i) {
      study.trials.push_back(fmt::format("trial-{}-{}-{}-{}", row.id, epsilon, seed, i));
      if (auto put = put_trial(study.trials.back(), row.runs[i], epsilon, seed); !put) return put;
    }
    study.reported_trial = study.trials.front();
    study.composition = {.rule = row.rule};
    accounting::ReportedEpsilon spent;
    spent.epsilon = epsilon;
    spent.delta = 1e-5;
    spent.accountant = "pld";
    study.total = study.training = spent;
    return store_.put_study(study);
  }

  Result<void> put_trial(const std::string& id, const Row::One& run, double epsilon, int seed) {
    results::TrialRecord trial;
    trial.id = id;
    trial.config = run.config;
    trial.state = trial::TrialState::finished;
    trial.seconds = (run.probes ? 0.9 : 0.6) + 0.03 * seed;
    trial.events = {
        accounting::poisson_gaussian(0.05, epsilon == 1 ? 2.4 : 1.2, static_cast<std::int64_t>(kSteps))};
    std::vector<trial::StepRecord> steps;
    std::vector<trial::MetricRecord> metrics;
    for (int step = 0; step < static_cast<int>(kSteps); ++step) {
      const double t = (step + 1) / kSteps;
      trial::StepRecord record{.step = step, .hash = "00", .scalars = {{"eta", 0.01 + 0.02 * t}}};
      if (run.probes) add_probe(record, step, t, seed);
      steps.push_back(std::move(record));
      if ((step + 1) % 6 != 0) continue;
      const double now = 50 + (run.accuracy - 50) * (1 - std::exp(-4 * t)) / (1 - std::exp(-4));
      metrics.push_back({step + 1, "test", "accuracy", now / 100, trial::Visibility::test});
      metrics.push_back({step + 1, "test", "loss", 3 * std::exp(-now / 30), trial::Visibility::test});
    }
    if (change_) change_(trial, steps);
    return store_.put_trial(trial, steps, metrics);
  }

  // A noisy parabola around its minimum at 0.02.
  static void add_probe(trial::StepRecord& record, int step, double t, int seed) {
    record.scalars["R_l"] = 1 + std::exp(-3 * t);
    if (step % 5 != 0) return;
    const double eta = 0.01 + 0.02 * t, slope = 4 - 3 * t, curvature = slope / 0.02;
    record.scalars["G"] = slope;
    record.scalars["H"] = curvature;
    int k = 0;
    for (const double x : {0.0, eta, -eta}) {
      record.scalars[fmt::format("probe_x.{}", k)] = x;
      record.scalars[fmt::format("probe_loss.{}", k)] =
          2 - t + 0.01 * seed - slope * x + curvature * x * x / 2;
      ++k;
    }
  }

  results::Store& store_;
  Change change_;
  bool with_selection_ = true;
};

// Tests over the database, which is made once for all of a suite.
class Database : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    store_ = *results::Store::in_memory();
    ASSERT_TRUE(Maker(*store_).fill({}));
    table_ = *results::build_table(*store_, "grid");
    spec_ = *results::spec_of(**store_->spec("grid"));
  }
  static void TearDownTestSuite() { store_.reset(); }

  static inline std::unique_ptr<results::Store> store_;
  static inline results::TableModel table_;
  static inline spec::Spec spec_;
};

}  // namespace hyfreedp::grid
