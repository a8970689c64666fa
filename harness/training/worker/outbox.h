// The worker's standard output: one JSON object a line and nothing else. What libraries print goes
// to standard error.
#pragma once

#include <mutex>

#include "harness/base/json.h"

namespace hyfreedp::worker {

class Outbox {
 public:
  Outbox();
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Sends a message, from any thread. Returns false if the reader has closed its end.
  bool send(const json::object& message);

 private:
  int descriptor_ = -1;
  std::mutex mutex_;
};

}  // namespace hyfreedp::worker
