// Step size and test loss over steps; see figures.h.
#pragma once

#include <optional>

#include "plots/figure.h"
#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

Result<std::optional<Figure>> step_size_figure(const results::Store& store, const results::TableModel& table);
Result<std::optional<Figure>> test_loss_figure(const results::Store& store, const results::TableModel& table);

}  // namespace hyfreedp::plots
