// A paper's printed values, read from its values.json (schema "paper-tables/1"):
//   {"tables": [{"id", "row_fields", "column_fields",
//                "cells": [{"row": [...], "columns": [...], "value", "sd"?, "unit"?}]}],
//    and further members, which items read by JSON pointer}
// A number in JSON has lost its trailing zeros, so the program assumes that every cell of a column
// was printed with as many decimals as the most precise one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::analytic {

using Labels = std::vector<std::string>;

struct PaperCell {
  Labels row;
  Labels columns;
  double value = 0;
  std::optional<double> sd;
  int decimals = 0;  // as printed
};

class PaperValues {
 public:
  PaperValues() = default;  // none
  explicit PaperValues(json::value document) : document_(std::move(document)) {}

  bool empty() const { return !document_.is_object(); }
  // The numeric cells of a table in the paper's order; none if the paper has no such table.
  std::vector<PaperCell> table(const std::string& id) const;
  // None if there is no such cell or if it is not a number.
  std::optional<PaperCell> cell(const std::string& table, const Labels& row, const Labels& columns) const;
  // The text of a cell that is not a number, such as "<1".
  std::optional<std::string> text(const std::string& table, const Labels& row, const Labels& columns) const;
  // Any other member by JSON pointer, such as "/settings/noise_example"; null if it is absent.
  const json::value* at(const std::string& pointer) const;

 private:
  json::value document_;
};

// Number of decimals of the shortest text that reads back to the number: 2 for 3.01, 1 for 12.8.
int decimals_of(double value);

}  // namespace hyfreedp::analytic
