// A table of plain values without training: what an accountant computes, or what a paper prints.
//
// Rows and columns have labels; a cell has our value, the paper's, or both. `in_band` says whether
// ours agrees with the paper's within `tolerance` (absolute, in the cell's unit), if one is given.
// The writers for comparisons (table_model.h) print it too. harness/analytic fills such tables, and
// a spec that cannot be run here shows the paper's values alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hyfreedp::results {

struct ValueCell {
  std::optional<double> ours;
  std::optional<double> paper;
  std::optional<double> paper_sd;  // as the paper prints it
  // The text instead of a number: "yes", "not stated"; empty otherwise.
  std::string text;
  int decimals = 2;  // to print; the paper's own where it has the cell
  // The decimals of the paper's value, if it is printed with others than ours.
  std::optional<int> paper_decimals = {};
  std::optional<double> tolerance;  // none: no verdict
  std::vector<int> notes;           // numbers into ValueTable::footnotes, from 1

  // None unless both values and a tolerance are given.
  std::optional<bool> in_band() const {
    if (!ours || !paper || !tolerance) return std::nullopt;
    const double difference = *ours - *paper;
    return difference <= *tolerance && -difference <= *tolerance;
  }
};

struct ValueRow {
  std::vector<std::string> labels;  // one a row field
  std::vector<ValueCell> cells;     // one a column
};

struct ValueTable {
  std::string name;  // of its files
  std::string title;
  std::string description;  // what is computed, from which formula and source
  std::string unit;         // of all cells: "epsilon", "%"; empty where the columns say it
  // The source of `paper` in the cells: a printed value, or what a formula of the paper gives,
  // which it does not print.
  enum class Source { paper, formula };
  Source source = Source::paper;
  const char* source_word() const { return source == Source::formula ? "formula" : "paper"; }
  std::vector<std::string> row_fields;
  std::vector<std::string> columns;
  std::vector<ValueRow> rows;
  std::vector<std::string> footnotes;  // numbered from 1
  std::vector<std::string> notes;      // how to read it
};

}  // namespace hyfreedp::results
