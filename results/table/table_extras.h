// Computes what a table shows beside means. The results are in CellModel, in RowModel or in
// footnotes. All but the note of a distant mean are there only if the table's settings ask for
// them.
//
//   interval       95 % of the mean: t, or BCa bootstrap
//   relative_to    difference to a row, paired by seed where seeds are shared, with its 95 %
//                  interval (accuracy, loss); for seconds the ratio of means, with the smallest
//                  and largest ratio over shared seeds
//   mdd            detectable_difference at the standard deviation of the paired differences to the
//                  row of relative_to, else to the column's leader
//   rerr           (mean - random's) / (oracle's - random's): how much of the way from random
//                  search to the oracle (Panda et al., "relative error rate reduction"); none if
//                  the two are equal
//   oracle beaten  the 95 % interval of the paired difference to the best oracle row lies above 0.
//                  Every cell by itself, not corrected for their number
//   distant mean   a footnote with every seed's accuracy and the median where no seed is within 3
//                  points of the mean, and how many seeds reach the oracle's mean less 3 points
//   paper          the paper's value, and ours minus the paper's if the task is the paper's or a
//                  tolerance is given; otherwise the ranks of the rows by our values and by the
//                  paper's
//   ranks          over the columns where every row was asked for and is finished; rows without a
//                  value come last
#pragma once

#include "results/table/footnotes.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

void add_extras(PanelModel& panel, Footnotes& footnotes);

}  // namespace hyfreedp::results
