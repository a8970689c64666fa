#include "harness/training/worker/heartbeat.h"

#include <chrono>
#include <pthread.h>

#include "harness/base/result.h"
#include "harness/training/peak_memory.h"

namespace hyfreedp::worker {
namespace {

constexpr std::chrono::seconds kBetweenHeartbeats{1};

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{1000000000} * time.tv_sec + time.tv_nsec;
}

}  // namespace

Heartbeat::Heartbeat(Outbox& outbox) : outbox_(outbox) {
  HYFREEDP_CHECK(::pthread_getcpuclockid(::pthread_self(), &processor_time_) == 0,
                 "the system does not tell a thread's processor time");
  teller_ = std::thread([this] { tell_until_left(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    leaves_ = true;
  }
  changed_.notify_all();
  teller_.join();
}

void Heartbeat::begin() {
  trains_ = false;
  const std::lock_guard lock(mutex_);
  works_ = true;
}

void Heartbeat::end() {
  const std::lock_guard lock(mutex_);
  works_ = false;
}

void Heartbeat::move() {
  trains_ = true;
  ++moves_;
}

void Heartbeat::tell_until_left() {
  std::int64_t used = 0;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenHeartbeats, [this] { return leaves_; })) {
    if (!works_) continue;
    const auto now = nanoseconds(processor_time_);
    if (!trains_ && now != used) ++moves_;
    used = now;
    const bool asks_gpu = on_gpu_ && trains_;  // before, the GPU may not be set up
    // The message is not sent under the lock: if nobody reads, sending waits, and the worker must
    // not wait for that.
    lock.unlock();
    outbox_.send({{"type", "heartbeat"},
                  {"moves", moves_.load()},
                  {"device_bytes", asks_gpu ? training::device_bytes_now() : std::int64_t{0}}});
    lock.lock();
  }
}

}  // namespace hyfreedp::worker
