// Tells the coordinator once a second, from a thread of its own, whether the work on a message goes
// on ("heartbeat" of harness/trial/worker_protocol.h), so that a worker that hangs can be told from
// one that has much to do.
//
// Work goes on where
//   training          came to its next microbatch or step, since the message before
//   anything before   (data, features of a frozen network, the network's weights) used the
//                     processor, however little: what waits for a lock looks at it now and then
// A deadlock moves neither; nor does an endless loop within a microbatch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <thread>

#include "harness/training/worker/outbox.h"

namespace hyfreedp::worker {

class Heartbeat {
 public:
  // To be made by the thread that works.
  explicit Heartbeat(Outbox& outbox);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Around the work on one message.
  void begin();
  void end();
  // Training came to its next microbatch or step.
  void move();
  // The run that follows trains on the GPU.
  void watch_gpu(bool on_gpu) { on_gpu_ = on_gpu; }

 private:
  void tell_until_left();

  Outbox& outbox_;
  clockid_t processor_time_{};  // of the thread that works
  std::atomic<std::int64_t> moves_ = 0;
  std::atomic<bool> trains_ = false;
  std::atomic<bool> on_gpu_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool works_ = false;
  bool leaves_ = false;
  std::thread teller_;
};

}  // namespace hyfreedp::worker
