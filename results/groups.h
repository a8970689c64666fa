// Rows of one group, as a spec's `each:` makes them, folded into one row.
//
// For each column and seed, the group's value is the median, or the best, over its members that have a value there; mean and standard
// deviation are then over seeds. Both say how many candidates there were. The best of a group is chosen by the very test results
// that are shown, so it is an oracle's whatever its members are.
// A folded row has the weakest label of its members (oracle, then simulated, then end-to-end), all their flags, and the smallest
// epsilon that one of them claims.
// Refused where a member is privately selected: which of several such rows did well would add to what its selection releases.
#pragma once

#include "results/footnotes.h"
#include "results/table_model.h"

namespace hyfreedp::results {

Result<void> fold_groups(PanelModel& panel, Footnotes& footnotes);

}  // namespace hyfreedp::results
