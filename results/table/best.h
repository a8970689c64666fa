// Marks the best cell of each column, if the evidence suffices; table_model.h gives the rule.
#pragma once

#include "results/table/table_model.h"

namespace hyfreedp::results {

void mark_best(PanelModel& panel);

}  // namespace hyfreedp::results
