// What of a reported run's metrics a cell is about.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "harness/trial/journal.h"
#include "results/table_options.h"

namespace hyfreedp::results {

// In percent, of the largest step.
std::optional<double> last_accuracy(std::span<const trial::MetricRecord> metrics, const std::string& split);

struct Checkpoints {
  std::optional<double> mean;  // of accuracy in percent, or of loss
  int n = 0;                   // that there were, at most as many as asked for
};
// Over the last evaluations on the test split, one a step; of accuracy where the metric is neither accuracy nor loss.
Checkpoints last_checkpoints(std::span<const trial::MetricRecord> metrics, const TableSettings& settings);

}  // namespace hyfreedp::results
