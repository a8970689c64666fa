// What an output folder is to be charged, by the documented rules alone (mechanism/journal.h,
// odometer/charge.h, runner/README.md): for random histories. It reads neither journals nor the
// database.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"

namespace hyfreedp::runner::history {

inline constexpr std::int64_t kSteps = 150;  // booked in two pieces
inline constexpr double kEpsilon = 3, kRate = 0.1, kDelta = 1e-5, kScoreNoise = 300;
inline constexpr int kSeqTo = 4;
inline constexpr double kMeanRuns = 4;

struct Cost {
  std::int64_t steps = 0, scores = 0;
  auto operator<=>(const Cost&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.steps << " steps, " << cost.scores << " scores";
}
inline Cost sum(Cost a, Cost b) { return {a.steps + b.steps, a.scores + b.scores}; }
inline Cost larger(Cost a, Cost b) { return {std::max(a.steps, b.steps), std::max(a.scores, b.scores)}; }

// Under noise of its own.
struct Attempt {
  std::string noise;
  std::int64_t number = 0;
  std::int64_t first = 0, booked = 0, done = 0;  // steps [first, ...)
  std::int64_t scores = 0;
  bool diverged = false, finished = false;

  bool is_used() const { return booked > first || scores > 0; }
  // "Writes bookings of 128 steps, up to 192 steps in advance."
  void book(std::int64_t step) {
    if (booked - step <= 64 && booked < kSteps) booked = std::min(kSteps, std::max(step, booked) + 128);
  }
};

// One trial.
struct Run {
  double rate = 0;
  std::int64_t seed = 0;
  bool is_selected = false;
  std::vector<Attempt> attempts;  // whose journal is there, or is the last that was lost
  std::int64_t wholes = 0;        // attempts of lost journals
  bool was_given = false;         // a worker was to have it
  bool is_over = false;           // has an end that stays
  bool diverged = false;
  // The database alone knows of it, until a worker writes its next journal.
  bool lost_journal_and_key = false;
  bool is_exact = true;  // the rules say exactly what it is charged
  bool database_alone_knows = false;
  bool database_knows = false;
  bool crashed = false;  // the database does not know how its last worker ended
  std::int64_t starts = 0, losses = 0;
  std::map<std::string, Attempt> ever;  // all that released anything, by their noise

  Cost whole() const { return {kSteps, is_selected ? 1 : 0}; }
  Cost charge() const {
    Cost all{wholes * whole().steps, wholes * whole().scores};
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const auto& one = attempts[i];
      if (!one.is_used()) continue;
      const auto next = std::find_if(attempts.begin() + static_cast<std::ptrdiff_t>(i) + 1, attempts.end(),
                                     [](const Attempt& later) { return later.is_used(); });
      const bool is_gone_on_from = next != attempts.end() && next->first > one.first;
      if (one.finished) {
        all = sum(all, {one.done - one.first, one.scores});
      } else if (is_gone_on_from && !one.diverged) {
        all = sum(all, {one.booked - one.first, one.scores});
      } else {
        all = sum(all, {kSteps - one.first, std::max<std::int64_t>(one.scores, is_selected ? 1 : 0)});
      }
    }
    return all;
  }
  Cost least() const {
    if (is_exact) return charge();
    Cost all;
    for (const auto& [noise, one] : ever) all = sum(all, {one.booked - one.first, one.scores});
    return all;
  }
  Cost most() const {
    if (is_exact) return charge();
    const auto times = starts + losses;
    return {times * whole().steps, times * whole().scores};
  }
};

inline std::string spec_text(const std::string& name, const std::string& seeds, const std::string& rows) {
  return fmt::format(R"(name: {}
title: t
panels:
  - id: small
    dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}}
    model: linear
    seeds: {}
    epsilon: [{}]
    delta: {}
    train: {{sample_rate: {}, steps: {}, optimizer: adamw}}
    evaluate: {{every: 0}}
    rows:
{})",
                     name, seeds, kEpsilon, kDelta, kRate, kSteps, rows);
}
inline std::string rate_row(const std::string& id, double rate) {
  return fmt::format("      - {{id: {}, method: fixed-rate, options: {{lr: {}}}}}\n", id, rate);
}

struct KnownSpec {
  std::string name, text;
  std::vector<double> rates = {};  // of its rows a, b, ...
  bool is_sequential = false;
};
// The first row of both is one: what they share is charged once.
inline const KnownSpec kPlain{
    "plain", spec_text("plain", "[0, 1]", rate_row("a", 0.05) + rate_row("b", 0.02)), {0.05, 0.02}};
inline const KnownSpec kSequential{
    "sequential",
    spec_text("sequential", "{until: paired interval of a - b is narrower than 0.5, from: 2, to: 4}",
              rate_row("a", 0.05) + rate_row("b", 0.01)),
    {0.05, 0.01},
    true};
inline const std::string kSelectionRow = fmt::format(
    "      - {{id: a, method: dp-hyper, options: {{grid: [1e-3, 1e-2, 1e-1], runs: poisson, mean_runs: {}, "
    "score_noise: {}}}}}\n",
    kMeanRuns, kScoreNoise);
inline const KnownSpec kSelection{"selection", spec_text("selection", "[0]", kSelectionRow)};
inline const KnownSpec kFar{"far", spec_text("far", "[0, 1]", rate_row("a", 0.5)), {0.5}};

// Of a run of one trial, of which each costs kEpsilon: as the worker is told.
inline double& noise() {
  static double multiplier = 0;
  return multiplier;
}

inline double epsilon_of(std::int64_t steps) {
  static std::map<std::int64_t, double> known;
  auto& epsilon = known[steps];
  if (epsilon == 0) {
    epsilon =
        accounting::report_epsilon({.events = {accounting::poisson_gaussian(kRate, noise(), steps)}}, kDelta)
            .value()
            .epsilon;
  }
  return epsilon;
}

inline double& selected_noise() {
  static double multiplier = 0;
  return multiplier;
}
// Of a selection among runs the dearest of which costs that.
inline double epsilon_of_selection(Cost dearest) {
  accounting::Selection selection{.distribution = accounting::Selection::Distribution::poisson,
                                  .mean = kMeanRuns};
  std::vector<accounting::Event> events;
  selection.base = {accounting::poisson_gaussian(kRate, selected_noise(), dearest.steps)};
  events.push_back({selection});
  selection.base = {accounting::batch(1, {{.noise_multiplier = kScoreNoise}}, dearest.scores)};
  events.push_back({selection, "private_validation"});
  return accounting::report_epsilon({.events = events}, kDelta).value().epsilon;
}

}  // namespace hyfreedp::runner::history
