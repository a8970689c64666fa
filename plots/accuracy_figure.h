// Test accuracy, or another test metric, against epsilon; see figures.h.
#pragma once

#include <optional>
#include <string>

#include "plots/figure.h"
#include "plots/layout.h"
#include "results/table_model.h"

namespace hyfreedp::plots {

struct AccuracyLook {
  std::string name = "accuracy";
  std::string title = "Test accuracy against ε";
  std::string metric = "Test accuracy";
  std::string unit = "%";  // "%" has an axis from 0 to 100, broken where a few rows lie far below
};

std::optional<Figure> accuracy_figure(const results::TableModel& table);
// `table`: what is shown, its cells' means in the look's unit; `styles` of the whole table, so that a row looks the same in
// every figure.
std::optional<Figure> accuracy_figure(const results::TableModel& table, const RowStyles& styles,
                                      const AccuracyLook& look);

}  // namespace hyfreedp::plots
