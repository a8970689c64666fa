// Test accuracy, or another test metric, against epsilon; see figures.h.
#pragma once

#include <optional>
#include <string>

#include "plots/figure.h"
#include "plots/layout.h"
#include "results/table/table_model.h"

namespace hyfreedp::plots {

struct AccuracyLook {
  std::string name = "accuracy";
  std::string title = "Test accuracy against ε";
  std::string metric = "Test accuracy";
  // "%": the axis runs from 0 to 100 and is broken if a few rows lie far below
  std::string unit = "%";
  spec::FigureLook look = {};
  double box_width = 330, box_height = 330;  // pixels
};

std::optional<Figure> accuracy_figure(const results::TableModel& table);
// The figure of `table`, whose cells' means are in the look's unit; nothing if there is no value to
// show. `styles` are those of the whole table, so that a row looks the same in every figure.
std::optional<Figure> accuracy_figure(const results::TableModel& table, const RowStyles& styles,
                                      const AccuracyLook& look);

}  // namespace hyfreedp::plots
