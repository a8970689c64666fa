// The worker's standard output: one JSON object a line, nothing else. Libraries that print go to standard error.
#pragma once

#include "harness/base/json.h"

namespace hyfreedp::worker {

class Outbox {
 public:
  Outbox();
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // False when nobody reads any more.
  bool send(const json::object& message);

 private:
  int descriptor_ = -1;
};

}  // namespace hyfreedp::worker
