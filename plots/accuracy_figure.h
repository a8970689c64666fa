// Test accuracy against epsilon; see figures.h.
#pragma once

#include <optional>

#include "plots/figure.h"
#include "results/table_model.h"

namespace hyfreedp::plots {

std::optional<Figure> accuracy_figure(const results::TableModel& table);

}  // namespace hyfreedp::plots
