// Two worker programs, the same trials, side by side: which is slower, and which needs more memory.
//
// A round starts one worker of each program anew and gives every cell's trial to both, one after
// the other and never at the same time; who goes first changes from cell to cell and from round to
// round, so that another load on the machine, a clock that slows down, or being first falls on both
// alike. Each cell's times and each round's peaks of memory are pairs, for a test on their ratios
// (results/regress/regress.h: AbTiming).
//
//   speed    processor time of the trial, its data already loaded; of trials on a GPU, and of
//            workers that do not say it (before 0.5), the time by the clock. Processor time does
//            not see what waits for the disk. Of each cell, and of all cells of a round together
//            (geometric mean), which shows a slowdown that all share sooner than any cell
//   memory   peak resident memory of the worker's process over all cells of the round; none where a
//            worker does not say (programs before 0.5). It is of the process: what the libraries
//            take is in it, so a trial's own growth shows diluted
//
// Journals go to a folder of their own and are removed. A trial without a noise seed is refused:
// running it again would be another release.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/trial/trial_config.h"
#include "results/regress/regress.h"

namespace hyfreedp::runner {

struct AbTimingEntry {
  std::string panel;
  std::string row;
  std::optional<double> epsilon;
  trial::TrialConfig config;
};

struct AbTimingRequest {
  std::string tonight;  // worker programs
  std::string reference;
  std::vector<AbTimingEntry> entries;
  int rounds = 20;
};

// An error where a worker cannot start or a trial fails; it names the program.
Result<std::vector<results::AbTiming>> run_ab_timing(const AbTimingRequest& request,
                                                     const std::function<void(int round)>& progress);

}  // namespace hyfreedp::runner
