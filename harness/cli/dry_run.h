// `hyfreedp run SPEC --dry-run`: what a run would do, without training: panels, cells, the noise that each budget
// calibrates to, and the trials known before any has finished. Calibrating takes seconds.
#pragma once

#include <iosfwd>

#include "harness/runner/plan.h"

namespace hyfreedp::cli {

// 0; 2 when the spec cannot be planned (the message goes to `out`). A cell that cannot meet its epsilon is printed
// with its reason and is not an error: in a run it is a row.
// `gpu_tflops`: the rate at which GPU hours are stated (run_price.h).
int dry_run(const runner::Spec& spec, double gpu_tflops, std::ostream& out);

}  // namespace hyfreedp::cli
