// Folds the rows of one group, as a spec's `each:` makes them, into one row.
//
// For each column and seed, the group's value is the median, or the best, of the members that have
// a value there; mean and standard deviation are then taken over seeds. Both state the number of
// candidates. The best of a group is chosen by the test results that are shown, so its label is
// oracle, whatever its members are. A folded row has the weakest label of its members
// (oracle, then simulated, then end-to-end), all their flags, and the smallest epsilon that one of
// them claims. An error if a member uses private selection: which of several such rows did well
// would reveal more than its selection releases.
#pragma once

#include "results/table/footnotes.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

Result<void> fold_groups(PanelModel& panel, Footnotes& footnotes);

}  // namespace hyfreedp::results
