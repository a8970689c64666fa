// Shows a transfer to whoever waits for it: on a terminal one line that is kept up to date,
// elsewhere a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace hyfreedp::datasets {

class FetchProgress {
 public:
  // `seconds`: between two lines elsewhere.
  FetchProgress(std::ostream& out, bool terminal, double seconds = 20);
  ~FetchProgress();
  FetchProgress(const FetchProgress&) = delete;
  FetchProgress& operator=(const FetchProgress&) = delete;

  // The functions for Transport::progress and Transport::say.
  void at(const std::string& name, std::uint64_t done, std::uint64_t total);
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;
  void clear_line();

  std::ostream& out_;
  bool terminal_;
  double seconds_;
  std::string name_;
  Clock::time_point begun_;
  Clock::time_point shown_;
  std::uint64_t first_ = 0;
  bool has_line_ = false;
};

}  // namespace hyfreedp::datasets
