#include "harness/runner/executors/stop_signal.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace hyfreedp::runner {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// The time at which the first one came, in nanoseconds of the monotonic clock; 0: none did. A
// signal handler can reach nothing else.
std::atomic<std::int64_t> first_asked{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::nanoseconds(std::chrono::seconds(time.tv_sec)).count() + time.tv_nsec;
}

void on_signal(int) {
  std::int64_t first = 0;
  const auto present = now();
  if (first_asked.compare_exchange_strong(first, present)) return;
  if (present - first >= std::chrono::nanoseconds(kImpatience).count()) ::_exit(kExitStopped);
}

void set_handler(void (*handler)(int)) {
  for (const int signal : kSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    std::signal(signal, handler);
  }
}

}  // namespace

StopSignal::StopSignal() {
  first_asked = 0;
  set_handler(on_signal);
}

StopSignal::~StopSignal() { set_handler(SIG_DFL); }

bool StopSignal::asked() { return first_asked != 0; }

}  // namespace hyfreedp::runner
