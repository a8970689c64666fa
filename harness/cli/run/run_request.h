// The command line of `hyfreedp run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/execute/budget.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/progress/run_price.h"

namespace hyfreedp::cli {

struct RunRequest {
  std::string spec;
  std::string preset;
  std::vector<std::string> settings;  // of --set
  std::vector<std::string> only;      // as given
  double gpu_tflops = runner::kAssumedTflops;
  std::string out;
  std::string device;
  int workers = 2;
  double checkpoint_minutes =
      std::chrono::duration<double, std::ratio<60>>(runner::kCheckpointInterval).count();
  double hang_minutes = 30;
  double time_limit = 0;                // minutes; 0: none
  double memory_limit = 0;              // bytes, of a worker; 0: none
  std::optional<std::uint64_t> memory;  // bytes, of all workers; absent: what the machine has
  std::optional<runner::Cap> cap;
  std::optional<double> cap_delta;
  bool dry_run = false;
  bool data = false;  // with dry_run: reads the data too
  bool fetch = false;
  bool fresh = false;
  bool replace = false;
  std::vector<std::string> retrain;  // rows, or "all"
  bool keep_weights = false;
  bool confidential = false;
  bool quiet = false;
  std::string log;
  std::string notify;
};

// Returns the exit code where nothing is left to do: 0 after --help, 2 after an error.
std::optional<int> parse_run_request(const std::vector<std::string>& arguments, RunRequest& request,
                                     std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
