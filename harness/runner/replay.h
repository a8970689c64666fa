// Methods over runs that were trained once: what a row would show if it were repeated many times, in seconds.
//
// A baseline is a pure function of finished runs, so a repeat of its row is: fresh draws for the method, and for every run it
// wants one that the pool has at that setting (replay_pool.h), of a seed drawn at random. A released score is the pooled run's
// un-noised validation accuracy with fresh noise. The row is priced by the accountant on the events that the wanted runs would
// book, by the composition that the method concludes with. Nothing is trained, and nothing is released: the result is a
// simulation on oracle information.
//
//   accuracy   test accuracy of the reported run, percent: mean, 10th and 90th percentile over the repeats that report one
//   interval   95 %, normal, of the mean: the variance of the draws over their number, and that of the pool's few seeds.
//              The latter is bootstrapped: repeats come in groups, each with seeds resampled in every cell of the pool;
//              what of the variance of the groups' means is not that of their draws, times n / (n - 1) at n seeds a cell.
//              A pool of one seed hides that part.
//   epsilon    total, tuning included: the largest over the repeats
//   failed     the share of repeats without a reported run
//
// Runs of one repeat are drawn independently, as their noises would be; a real row's runs share the cell's seed.
// Deterministic: the same pool, rows and seed give the same result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/plan.h"
#include "harness/runner/replay_pool.h"
#include "harness/runner/study_epsilon.h"

namespace hyfreedp::runner {

struct ReplayOptions {
  std::int64_t repeats = 1000;
  std::int64_t groups = 20;  // at most `repeats`
  std::int64_t seed = 0;
  double max_rate_factor = 1.6;
};

struct ReplayedRow {
  std::string panel;
  std::string row;
  std::string method;
  std::string label;               // "simulated (of: end-to-end DP)"
  std::vector<std::string> flags;  // of any repeat
  std::optional<double> epsilon_target;
  std::optional<double> epsilon;  // absent: non-private
  std::int64_t repeats = 0;
  std::int64_t reported = 0;  // repeats with a value
  double mean = 0;            // percent, of those
  double low = 0;             // 95 % interval of the mean
  double high = 0;
  double percentile10 = 0;
  double percentile90 = 0;
  double runs = 0;                             // wanted by a repeat, mean
  std::map<std::string, std::int64_t> failed;  // repeats, by kind
  // How wanted runs met the pool.
  std::int64_t requests = 0;
  std::int64_t snapped = 0;         // learning rate moved
  double largest_rate_factor = 1;   // of those
  std::int64_t between_noises = 0;  // noise taken from a neighbour
};

// The study's seed plays no part. An error where the pool lacks a run that the method wants, or what it asks to know of it.
Result<ReplayedRow> replay(const PlannedStudy& study, const ReplayPool& pool, const ReplayOptions& options,
                           StudyPricer& pricer);

// Each panel, row and epsilon of the spec once, in the spec's order.
Result<std::vector<ReplayedRow>> replay_spec(const Spec& spec, const ReplayPool& pool,
                                             const ReplayOptions& options);

}  // namespace hyfreedp::runner
