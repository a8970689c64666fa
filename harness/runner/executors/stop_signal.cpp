#include "harness/runner/executors/stop_signal.h"

#include <csignal>
#include <unistd.h>

namespace hyfreedp::runner {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t asked_to_stop = 0;

void on_signal(int) {
  if (asked_to_stop != 0) ::_exit(kExitStopped);
  asked_to_stop = 1;
}

}  // namespace

StopSignal::StopSignal() {
  asked_to_stop = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::asked() { return asked_to_stop != 0; }

}  // namespace hyfreedp::runner
