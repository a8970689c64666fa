// The memory that a part of a test takes at its worst.
#pragma once

#include <fstream>
#include <gtest/gtest.h>
#include <malloc.h>
#include <string>

namespace hyfreedp::datasets {

// Begins at the memory that the process has now, whatever earlier tests took.
class PeakMemory {
 public:
  PeakMemory() {
    ::malloc_trim(0);
    std::ofstream reset("/proc/self/clear_refs");
    reset << "5" << std::flush;
    before_ = peak_kilobytes();
    if (!reset || before_ == 0) ADD_FAILURE() << "this system does not tell how much memory is taken";
  }
  // Since construction.
  long megabytes() const { return (peak_kilobytes() - before_) / 1024; }

 private:
  static long peak_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return 0;
  }
  long before_ = 0;
};

}  // namespace hyfreedp::datasets
