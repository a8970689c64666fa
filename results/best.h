// Marks the best cell of each column where the evidence is there; see table_model.h for the rule.
#pragma once

#include "results/table_model.h"

namespace hyfreedp::results {

void mark_best(PanelModel& panel);

}  // namespace hyfreedp::results
