// `hyfreedp run SPEC --dry-run`: what a run would do, without training: panels, cells, the noise
// that each budget calibrates to, and the trials known before any has finished. Calibrating takes
// seconds.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/runner/progress/pace.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

struct DryRunRates {
  double gpu_tflops = 0;  // at which GPU hours are stated (run_price.h)
  runner::Pace measured;  // of the output folder's earlier runs; of none: no time is stated
  std::string folder;     // where they ran
  int workers = 1;
  std::uint64_t memory = 0;  // bytes that they may have together
};

// `studies`: those of the spec that are asked for. A cell that cannot meet its epsilon is printed
// with its reason and is not an error: in a run it is a row. An error where what the features of a
// dataset cost is not known.
Result<void> dry_run(const runner::Spec& spec, const std::vector<runner::PlannedStudy>& studies,
                     const DryRunRates& rates, std::ostream& out);

}  // namespace hyfreedp::cli
