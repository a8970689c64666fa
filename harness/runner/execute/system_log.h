// Collects how much of the machine one execution of a run uses over time, from an executor's
// updates to the store's samples. A long run keeps as many samples as a short one, at larger
// distances.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/runner/executors/executor.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

class SystemLog {
 public:
  static constexpr std::size_t kMost = 400;

  // An update of kind `use`.
  void add(const Update& use);
  // Adds the last sample, if the worker lived to the end. Nothing may be added after it.
  void end(const Update& over);

  // Returns at most kMost samples, and the last.
  std::vector<results::SystemSample> samples() const;

 private:
  struct Point {
    double seconds = 0;
    double cpu_seconds = 0;  // since the beginning, so that a share over any distance follows
    double resident_bytes = 0;
    double device_bytes = 0;
  };
  static Point point_of(const Update& update);

  std::vector<Point> points_;
  std::uint64_t seen_ = 0;
  std::uint64_t every_ = 1;  // of those seen is kept
};

}  // namespace hyfreedp::runner
