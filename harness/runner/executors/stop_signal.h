// Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGUSR1: the first one asks for a clean stop, with a
// checkpoint of every run. One that comes two seconds later or more ends the program at once; its
// workers end with it, and their runs go on from their last checkpoints. One that comes sooner
// changes nothing: `timeout` and Slurm send a signal to the process and to its group, within a
// moment.
#pragma once

#include <chrono>

namespace hyfreedp::runner {

inline constexpr std::chrono::seconds kImpatience{2};

// Handles these signals while it exists; only one object may exist at a time. SIGHUP stays ignored
// where it was, as under nohup.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static bool asked();
};

inline constexpr int kExitStopped = 130;  // as a shell reports a program ended by Ctrl-C

}  // namespace hyfreedp::runner
