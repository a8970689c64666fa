// fixed-rate: train once at one public learning rate. The smallest complete method: copy this pair to add
// one.
//
//   options   what a spec may set, declared once (here: lr)
//   next      the training runs wanted now, as a pure function of the cell and the finished runs
//   conclude  the run that is reported, how its privacy cost composes, and an honesty label
//
// A method of several runs writes next and conclude itself; nondp_gs.cpp is the shortest example.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline fixed_rate();

}  // namespace hyfreedp::baselines
