// Preloaded into the programs under test (LD_PRELOAD): a wall clock that jumps by up to 400 days,
// back and forth, whenever somebody looks at it. The steady clocks stay as they are.
#include <atomic>
#include <cstdint>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t kMost = 400ULL * 86400;

std::int64_t jump() {
  static std::atomic<std::uint64_t> looks{0};
  std::uint64_t x = 0x9e3779b97f4a7c15ULL * ++looks;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::int64_t>((x >> 20) % (2 * kMost)) - static_cast<std::int64_t>(kMost);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long code = ::syscall(SYS_clock_gettime, clock, now);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
  return static_cast<int>(code);
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec real{};
  const int code = clock_gettime(CLOCK_REALTIME, &real);
  *now = {real.tv_sec, real.tv_nsec / 1000};
  return code;
}

time_t time(time_t* place) noexcept {
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  if (place != nullptr) *place = real.tv_sec;
  return real.tv_sec;
}

}  // extern "C"
