// Repeats methods over runs that were trained once: what a row would show if it were repeated many
// times, in seconds.
//
// A baseline is a pure function of finished runs. To repeat its row, the method gets fresh draws,
// and for every run that it asks for it gets one that the pool has at that setting (replay_pool.h),
// with a seed drawn at random. A released score is the pooled run's un-noised validation accuracy
// plus fresh noise. The accountant prices the row on the events that these runs would book,
// composed as the method concludes. Nothing is trained and nothing is released: the result is a
// simulation on oracle information.
//
//   accuracy   test accuracy of the reported run in percent: mean, 10th and 90th percentile over
//              the repeats that report one
//   interval   95 % normal interval of the mean, whose variance is that of the draws over their
//              number plus that of the pool's few seeds. The latter is bootstrapped: repeats come
//              in groups, and each group resamples the seeds in every cell of the pool. Its
//              estimate is the variance of the groups' means beyond that of their draws, times
//              n / (n - 1) at n seeds a cell. A pool with one seed cannot show this part
//   epsilon    total, tuning included: the largest over the repeats
//   failed     the share of repeats without a reported run
//
// Runs of one repeat are drawn independently, as their noises would be; the runs of a real row
// share the study's seed. The result is deterministic: the same pool, rows and seed give the same
// result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/execute/study_epsilon.h"
#include "harness/runner/replay/replay_pool.h"
#include "harness/runner/spec/plan.h"

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
  // Counts of the runs that were wanted, and of how the pool differed from them.
  std::int64_t requests = 0;
  std::int64_t snapped = 0;         // learning rate moved
  double largest_rate_factor = 1;   // of those
  std::int64_t between_noises = 0;  // noise taken from a neighbour
};

// Repeats one study; its seed has no effect. An error if the pool lacks a run that the method asks
// for, or a metric that it needs.
Result<ReplayedRow> replay(const PlannedStudy& study, const ReplayPool& pool, const ReplayOptions& options,
                           StudyPricer& pricer);

// Repeats each panel, row and epsilon of the spec once, in the spec's order.
Result<std::vector<ReplayedRow>> replay_spec(const Spec& spec, const ReplayPool& pool,
                                             const ReplayOptions& options);

}  // namespace hyfreedp::runner
