// fixed-rate: one run at one public learning rate; nothing is tuned.
//
//   options   what a spec may set, declared once (here: lr)
//   next      the training runs wanted now, as a pure function of the cell and the finished runs
//   conclude  the run that is reported, how its privacy cost composes, and the label of the row
//
// A method with one run needs to write neither: make_single_run (support.h) makes both from the
// function that makes its config.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline fixed_rate();

}  // namespace hyfreedp::baselines
