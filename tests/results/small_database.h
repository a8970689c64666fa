// A database small enough to know every number of: one panel, three rows, epsilon 1 and none, three
// seeds.
//
//   row a (prodigy, end-to-end)   eps 1: 80, 82, 84 -> 82 +- 2; none: 90, 90, 90
//   row b (hyfreedp, paper)       eps 1: 70, failed, 72 -> 71 +- sqrt(2), spent 1.2 and 1.3,
//                                 claimed 1; none: failed
//   row c (dp-hyper, selection)   eps 1: 60, 61, 62 of 3, 4, 5 runs; no non-private arm
#pragma once

#include <string>
#include <vector>

#include "results/store/store.h"

namespace hyfreedp::small {

inline constexpr double kPlantedConfidential = 0.654321;
inline constexpr const char* kPlantedDigits = "654321";

inline results::SpecRecord spec() {
  const auto row = [](const char* id, const char* method, const char* title, const char* label, bool arm) {
    json::array epsilons{1};
    if (arm) epsilons.emplace_back("inf");
    return json::object{
        {"id", id},      {"method", method},   {"title", title},       {"label", label},
        {"options", {}}, {"seeds", {0, 1, 2}}, {"epsilons", epsilons}, {"footnotes", json::array{}}};
  };
  results::SpecRecord record;
  record.name = "small";
  record.hash = "feedfacefeedfacefeedface";
  record.resolved = {{"name", "small"},
                     {"title", "A small table"},
                     {"description", ""},
                     {"noise_seed", nullptr},
                     {"panels",
                      {{{"id", "p"},
                        {"title", "Panel, one"},
                        {"population", 1000},
                        {"dimension", 20},
                        {"steps", 10},
                        {"sample_rate", 0.1},
                        {"delta", 1e-5},
                        {"seeds", {0, 1, 2}},
                        {"epsilons", {1, "inf"}},
                        {"footnotes", {"The panel's own note."}},
                        {"rows",
                         {row("a", "prodigy", "Row A", "end-to-end DP", true),
                          row("b", "hyfreedp", "Row \"B\", quoted", "end-to-end DP", true),
                          row("c", "dp-hyper", "Row C", "end-to-end DP", false)}}}}}};
  record.text = "name: small\n";
  record.version = "0.1.0";
  return record;
}

inline results::TrialRecord trial(const std::string& id) {
  results::TrialRecord record;
  record.id = id;
  record.config = {{"optimizer", {{"name", "prodigy"}, {"options", json::object{}}}},
                   {"privacy", {{"sampler", "poisson"}}},
                   {"steps", 10}};
  record.state = trial::TrialState::finished;
  record.notes = {"stuck at d0"};
  record.counts = {{"accepted", 3}};
  record.fingerprint = {{"device", "cpu"}};
  record.seconds = 0.5;
  record.events = {accounting::poisson_gaussian(0.1, 1.5, 10)};
  record.events.front().split = accounting::kDefaultSplit;  // as a trial's plan writes it
  return record;
}

inline std::vector<trial::StepRecord> steps() {
  return {{0, "h0", {{"eta", 1.0}, {"d", 1e-6}}}, {1, "h1", {{"eta", 1.0}, {"d", 2e-6}}}};
}

inline std::vector<trial::MetricRecord> metrics(double accuracy) {
  using trial::Visibility;
  return {{5, "test", "accuracy", 0.1, Visibility::test},
          {10, "test", "accuracy", accuracy, Visibility::test},
          {10, "test", "loss", 1.25, Visibility::test},
          {10, "private_validation", "score", 0.5, Visibility::released},
          {10, "private_validation", "accuracy", kPlantedConfidential, Visibility::confidential}};
}

inline results::StudyRecord study(const std::string& row, const std::string& method,
                                  std::optional<double> epsilon, std::int64_t seed) {
  results::StudyRecord record;
  record.id = "study-" + row + (epsilon ? "-1-" : "-inf-") + std::to_string(seed);
  record.spec = "small";
  record.panel = "p";
  record.row = row;
  record.method = method;
  record.epsilon_target = epsilon;
  record.delta = 1e-5;
  record.seed = seed;
  return record;
}

inline accounting::ReportedEpsilon spent(double epsilon, const std::string& accountant) {
  accounting::ReportedEpsilon reported;
  reported.epsilon = epsilon;
  reported.epsilon_lower = epsilon * 0.99;
  reported.delta = 1e-5;
  if (accountant == "pld") reported.pld = epsilon;
  reported.rdp = epsilon * 1.1;
  reported.rdp_order = 8;
  reported.accountant = accountant;
  return reported;
}

// Concludes `record` with `runs` trials, of which the first is reported; each says `notes` of
// itself. Of a total that it has the accountant of the noise stays.
inline Result<void> conclude(results::Store& store, results::StudyRecord record, double accuracy,
                             double epsilon, int runs = 1, const std::vector<std::string>& notes = {}) {
  const bool selection = record.method == "dp-hyper";
  for (int run = 0; run < runs; ++run) {
    record.trials.push_back("trial-" + record.id + "-" + std::to_string(run));
    auto one = trial(record.trials.back());
    one.notes = notes;
    if (auto put = store.put_trial(one, steps(), metrics(accuracy)); !put) return put.error();
    const std::vector<results::SystemSample> system = {
        {.seconds = 0.25, .cpu_share = 0.75, .resident_bytes = 150'000'000},
        {.seconds = 0.5, .cpu_share = 1, .resident_bytes = 160'000'000}};
    if (auto put = store.put_system(one.id, system); !put) return put.error();
    record.seconds += 0.5;
  }
  record.state = results::StudyState::concluded;
  record.reported_trial = record.trials.front();
  record.label = record.epsilon_target ? "end-to-end DP" : "non-private";
  using Rule = trial::Composition::Rule;
  record.composition = {.rule = !record.epsilon_target ? Rule::none
                                : selection            ? Rule::selection
                                                       : Rule::trial,
                        .trials = record.trials};
  const auto noise = record.total ? record.total->noise_accountant : "";
  if (record.epsilon_target) {
    record.total = record.training = spent(epsilon, selection ? "rdp" : "pld");
    record.total->noise_accountant = noise;
  }
  if (record.row == "b" && record.epsilon_target) {
    record.claimed_epsilon = 1;
    record.flags = {"paper accounting: epsilon understated"};
  }
  return store.put_study(record);
}

// Puts a run that `fill` will find there, with the memory that it took.
inline Result<void> put_with_memory(results::Store& store, const std::string& id, std::int64_t host,
                                    std::int64_t device, double accuracy) {
  auto run = trial(id);
  run.notes.clear();
  run.peak_bytes = host;
  run.device_peak_bytes = device;
  return store.put_trial(run, steps(), metrics(accuracy));
}

inline Result<void> fail(results::Store& store, results::StudyRecord record) {
  record.state = results::StudyState::failed;
  record.failure_kind = "diverged";
  record.failure_message = "the weights were not finite at step 7.";
  return store.put_study(record);
}

// `notes`: what every run says of itself.
inline Result<void> fill(results::Store& store, const std::vector<std::string>& notes = {}) {
  if (auto put = store.put_spec(spec()); !put) return put.error();
  for (int seed = 0; seed < 3; ++seed) {
    const double s = seed;
    for (const auto& done :
         {conclude(store, study("a", "prodigy", 1.0, seed), 0.80 + 0.02 * s, 0.99, 1, notes),
          conclude(store, study("a", "prodigy", std::nullopt, seed), 0.90, 0, 1, notes),
          seed == 1
              ? fail(store, study("b", "hyfreedp", 1.0, seed))
              : conclude(store, study("b", "hyfreedp", 1.0, seed), 0.70 + 0.01 * s, 1.2 + 0.05 * s, 1, notes),
          fail(store, study("b", "hyfreedp", std::nullopt, seed)),
          conclude(store, study("c", "dp-hyper", 1.0, seed), 0.60 + 0.01 * s, 1.0, 3 + seed, notes)}) {
      if (!done) return done.error();
    }
  }
  return {};
}

}  // namespace hyfreedp::small
