// The memory of a run before there is one: for --dry-run, and to refuse what cannot fit. Upper
// estimates; tests/end_to_end/run_memory_test.cpp holds them to what workers used.
//
//   process      the program and its libraries, measured
//   weights      all parameters, and twice as much again while a file of them is read, as measured
//   vectors      of d numbers: the released mean, the clipped sum in float64, the direction, an
//                average, and the most that any optimizer keeps (optimizers::kMostStateVectors); of
//                a checkpoint that is written beside training, a copy (trial::kMostCopiedState)
//   samples      of one microbatch, by harness/models/graph/step_memory.h
//                A run of DP-ZO is one of forward passes: beside weights and microbatch it has one
//                vector, two on a GPU, and those that averages and momentum ask for
//   data         tables that are not mapped from the cache; on a GPU all of them
// A worker that makes a cache of a frozen network's features has that network in memory before.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

// An estimate is at most kMostOver times what a run takes, and kMostBeside bytes.
inline constexpr double kMostOver = 1.5;
inline constexpr double kMostBeside = 250e6;

struct RunMemory {
  double host = 0;    // bytes that the worker's process has for itself
  double tables = 0;  // of these: data, which a worker keeps for later runs
  double device = 0;  // bytes on the GPU; 0: it trains on the processor
  // Bytes of the cache's file, which all workers share and which the system gives back where memory
  // is short: no part of `host`.
  double mapped = 0;
};

// An error for a model that does not fit the data.
Result<RunMemory> memory_of(const trial::TrialConfig& config);
// Returns the memory of the most demanding of a spec's runs, as its panels and rows say, in a
// worker that has met the data of all of them; what a method changes (its batch, its rate) counts
// for little.
Result<RunMemory> largest_run(const std::vector<PlannedStudy>& studies);

// "Memory of the largest run: about 3.1 GB at most; 2 runs at once: 6.2 GB of 24 GB." `machine`:
// bytes that it has.
std::string memory_text(const RunMemory& largest, int workers, std::uint64_t machine);
// An error where the machine has less than one run needs, even if the estimate is as far above it
// as it may be; it names a next step.
Result<void> check_memory(const RunMemory& largest, std::uint64_t machine);
// Returns how many of `workers` runs fit at once; at least 1.
int workers_that_fit(const RunMemory& largest, int workers, std::uint64_t machine);

}  // namespace hyfreedp::runner
