// DP-hyper: random search by private selection, charged in full
// (private_selection.h; Papernot & Steinke, ICLR 2022). With `runs: liu-talwar` the same search is
// priced by the older theorem of Liu & Talwar, STOC 2019.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline dp_hyper();

}  // namespace hyfreedp::baselines
