// Ctrl-C (SIGINT) and SIGTERM: the first one asks for a clean stop, the second one ends the program
// at once (its workers end with it, and their journals can be resumed).
#pragma once

namespace hyfreedp::runner {

// Handles both signals while it exists; only one object may exist at a time.
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
