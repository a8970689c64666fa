// Ctrl-C (SIGINT) and SIGTERM: the first asks for a clean stop, the second ends the program at once (workers go with
// it; their journals stay resumable).
#pragma once

namespace hyfreedp::runner {

// Handles both signals while it lives; one at a time.
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
