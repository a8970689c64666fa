// The options of `hyfreedp run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/common/command.h"
#include "harness/runner/execute/budget.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/progress/run_price.h"

namespace hyfreedp::cli {

struct RunRequest {
  std::string spec;
  std::string preset;
  std::vector<std::string> settings;  // of --set
  std::vector<std::string> only;      // as given
  std::string out = "out";
  int workers = 2;
  std::string device;
  bool dry_run = false;
  bool data = false;  // with dry_run: reads the data too
  std::optional<double> gpu_tflops;
  bool fetch = false;
  bool fresh = false;
  bool replace = false;
  std::vector<std::string> retrain;  // rows, or "all"
  std::optional<double> cap;         // epsilon
  std::optional<double> cap_delta;
  double checkpoint_minutes =
      std::chrono::duration<double, std::ratio<60>>(runner::kCheckpointInterval).count();
  double hang_minutes = 30;
  double time_limit = 0;         // minutes; 0: none
  double memory_limit = 0;       // GB, of a worker; 0: none
  std::optional<double> memory;  // GB, of all workers; absent: what the machine has
  bool keep_weights = false;
  bool confidential = false;
  std::string log;
  std::string notify;
  bool quiet = false;

  void describe(Options& options);
  Checked check() const;
  std::optional<runner::Cap> budget() const;
};

}  // namespace hyfreedp::cli
