// Cells and footnotes of a value table.
#pragma once

#include <optional>
#include <string>

#include "harness/analytic/paper_values.h"
#include "results/table/value_table.h"

namespace hyfreedp::analytic {

// Half a unit of the last of `decimals` printed digits.
double half_unit(int decimals);

// A cell with our value and the paper's, in band within half a unit plus `more`; with ours alone if
// the paper has no such cell.
results::ValueCell compared(double ours, const std::optional<PaperCell>& paper, int decimals_alone = 2,
                            double more = 0);
// A cell with our value and a printed number that is in no table, with its tolerance.
results::ValueCell compared(double ours, std::optional<double> printed, int decimals, double tolerance);
results::ValueCell ours_alone(double ours, int decimals);
results::ValueCell paper_alone(double printed, int decimals);
results::ValueCell words(std::string text);

// The number of the footnote with this text, which is added if it is new. The form with a cell
// marks the cell too.
int footnote(results::ValueTable& table, const std::string& text);
void footnote(results::ValueTable& table, results::ValueCell& cell, const std::string& text);

}  // namespace hyfreedp::analytic
