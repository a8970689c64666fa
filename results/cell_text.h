// How a cell reads, the same in every writer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/table_model.h"
#include "results/value_table.h"

namespace hyfreedp::results {

struct CellText {
  std::string main;                  // "86.5 ± 0.4", "diverged", "not run yet", "n/a"
  std::vector<std::string> details;  // lines beneath: "ε 1.00, n 3"
  std::string confidential;          // "validation 85.1, 4 runs"; only when asked for
};
CellText text_of(const CellModel& cell);
// Our value, beneath it "paper 1.25, difference -0.01, in band"; the paper's value alone where that is all there is.
// `word`: ValueTable::source_word().
CellText text_of(const ValueCell& cell, const std::string& word = "paper");

inline constexpr const char* kNoValue = "-";

// "96.50 ± 0.12" with that many decimals.
std::string value_text(double value, const std::optional<double>& sd, int decimals);
// "paper 96.50 ± 0.12" and "difference -1.20, out of band"; the verdict only where there is one.
std::vector<std::string> paper_lines(double paper, const std::optional<double>& paper_sd,
                                     const std::optional<double>& ours, int decimals,
                                     const std::optional<bool>& in_band, const std::string& word = "paper",
                                     const std::optional<int>& paper_decimals = {});

std::string column_title(const std::optional<double>& epsilon);  // "ε = 1", "non-private"
// With what the numbers are, where that is not accuracy in percent: "ε = 1, loss", "ε = 1, s".
std::string column_title(const PanelModel& panel, const std::optional<double>& epsilon);
// Two decimals, rounded up: an upper bound stays one.
std::string epsilon_text(double epsilon);
// "[1, 2]", or "" of none.
std::string marker(const std::vector<int>& notes);
// "end-to-end DP; paper accounting: ...": the label and the flags that are not already a banner of the table.
std::string label_text(const TableModel& table, const RowModel& row);

// Columns that the text takes on a terminal (one a code point, which holds for what tables print).
std::size_t display_width(const std::string& text);
// Lines of at most `width` columns, broken at spaces; a longer word keeps its own line whole.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

}  // namespace hyfreedp::results
