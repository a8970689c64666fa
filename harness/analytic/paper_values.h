// A paper's printed values, as its values.json (schema "paper-tables/1") holds them.
//
// {"tables": [{"id", "row_fields", "column_fields", "cells": [{"row": [...], "columns": [...],
// "value", "sd"?, "unit"?}]}],
//  further members that an item reads by JSON pointer}. A number in JSON has lost its final zeros,
//  so a column is taken to be
// printed with as many decimals as its most precise cell.
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
  // Numeric cells of a table in the paper's order; none where the table is absent.
  std::vector<PaperCell> table(const std::string& id) const;
  // Empty where there is no such cell or it holds no number.
  std::optional<PaperCell> cell(const std::string& table, const Labels& row, const Labels& columns) const;
  // The text of a cell that holds one ("<1").
  std::optional<std::string> text(const std::string& table, const Labels& row, const Labels& columns) const;
  // Any other member by JSON pointer ("/settings/noise_example"); null where it is absent.
  const json::value* at(const std::string& pointer) const;

 private:
  json::value document_;
};

// Decimals of the shortest text that reads back to the number: 3.01 has 2, 12.8 has 1.
int decimals_of(double value);

}  // namespace hyfreedp::analytic
