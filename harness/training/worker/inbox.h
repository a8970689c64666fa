// The worker's standard input, read by a thread of its own so that a stop is noticed between the
// steps of a running trial. A stop is a {"type":"stop"} line, the end of the input
// (the coordinator has ended), SIGTERM, SIGINT, SIGHUP or SIGUSR1.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "harness/base/json.h"

namespace hyfreedp::worker {

struct Message {
  json::object object;
  std::string problem;  // why a line is not a message
};

class Inbox {
 public:
  // Blocks these signals for the whole process; must be called before any other thread starts.
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // The next message; nothing after a stop.
  std::optional<Message> next();
  bool stop_requested() const { return stopping_; }

 private:
  void read_all();
  bool read_some();
  void accept(const std::string& line);
  void stop();

  int signals_ = -1;
  int wake_ = -1;
  std::string partial_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> messages_;
  std::thread reader_;
};

}  // namespace hyfreedp::worker
