// Measures the time and memory that a run takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "harness/training/peak_memory.h"
#include "harness/trial/run_records.h"

namespace hyfreedp::training {

// The costs of a run, as in trial::Finish.
struct Spent {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t device_peak_bytes = 0;

  void put_into(trial::Finish& finish) const {
    finish.seconds = seconds;
    finish.peak_bytes = peak_bytes;
    finish.device_peak_bytes = device_peak_bytes;
  }
  Spent operator+(const Spent& later) const {
    return {seconds + later.seconds, std::max(peak_bytes, later.peak_bytes),
            std::max(device_peak_bytes, later.device_peak_bytes)};
  }
};

// Measures what the process has spent since the object was made.
class Meter {
 public:
  explicit Meter(const std::string& device) : memory_(device) {}
  Spent spent() const {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    return {std::chrono::duration<double>(passed).count(), memory_.host(), memory_.device()};
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  PeakMemory memory_;
};

}  // namespace hyfreedp::training
