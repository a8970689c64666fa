// Reads the metric that a cell shows from a reported run's metrics.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "harness/trial/run_records.h"
#include "results/table/table_options.h"

namespace hyfreedp::results {

// The accuracy in percent at the largest step; nothing if there is none.
std::optional<double> last_accuracy(std::span<const trial::MetricRecord> metrics, const std::string& split);

struct Checkpoints {
  std::optional<double> mean;  // of accuracy in percent, or of loss
  int n = 0;                   // how many were averaged, at most as many as asked for
};
// The mean over the last evaluations on the test split, one for each step. It is of accuracy if the
// table's metric is neither accuracy nor loss.
Checkpoints last_checkpoints(std::span<const trial::MetricRecord> metrics, const TableSettings& settings);

}  // namespace hyfreedp::results
