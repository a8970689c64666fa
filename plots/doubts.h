// Finds what is doubtful of a figure that a spec lists before anything is trained: a name that no
// run has.
#pragma once

#include <string>
#include <vector>

#include "plots/runs.h"
#include "results/table/figure_spec.h"

namespace hyfreedp::plots {

// `first`: runs that the spec begins with, of which panel, row, group, epsilon and config are read.
// The sentences' subject is the figure: "no run has 'z' among its settings". Nothing is doubtful
// where the figure is of none of these runs.
std::vector<std::string> doubts_of(const results::FigureRequest& request, const std::vector<Run>& first);

}  // namespace hyfreedp::plots
