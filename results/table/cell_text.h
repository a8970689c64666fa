// The text of a cell, the same in every writer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/table/table_model.h"
#include "results/table/value_table.h"

namespace hyfreedp::results {

struct CellText {
  std::string main;                  // "86.5 ± 0.4", "diverged", "not run yet", "n/a"
  std::vector<std::string> details;  // lines beneath: "ε 1.00, n 3"
  std::string confidential;          // "validation 85.1, 4 runs"; only when asked for
};
CellText text_of(const CellModel& cell, const TableLook& look = {});
// Our value and beneath it "paper 1.25, difference -0.01, in band", or the paper's value alone if
// there is no other. `word`: ValueTable::source_word().
CellText text_of(const ValueCell& cell, const std::string& word = "paper");

inline constexpr const char* kNoValue = "-";

// "96.50 ± 0.12" with the given number of decimals.
std::string value_text(double value, const std::optional<double>& sd, int decimals);
// "paper 96.50 ± 0.12" and "difference -1.20, out of band"; the verdict only if there is one.
std::vector<std::string> paper_lines(double paper, const std::optional<double>& paper_sd,
                                     const std::optional<double>& ours, int decimals,
                                     const std::optional<bool>& in_band, const std::string& word = "paper",
                                     const std::optional<int>& paper_decimals = {});

// "ε = 1", "non-private"; where the spec fixes the noise, "σ = 4, ε = 1.439".
std::string arm_title(const PanelModel& panel, const std::optional<double>& epsilon);
// The column's title with the metric, if it is not accuracy in percent: "ε = 1, loss", "ε = 1, s".
std::string column_title(const PanelModel& panel, const std::optional<double>& epsilon);
// Two decimals, rounded up, so that an upper bound remains one.
std::string epsilon_text(double epsilon);
// "[1, 2]", or "" of none.
std::string marker(const std::vector<int>& notes);
// "end-to-end DP; paper accounting: ...": the label and the flags that are not already a banner of
// the table.
std::string label_text(const TableModel& table, const RowModel& row);

// Number of columns that the text takes on a terminal: one for each code point, which holds for
// what tables print.
std::size_t display_width(const std::string& text);
// Breaks the text at spaces into lines of at most `width` columns; a longer word gets a line of its
// own.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

}  // namespace hyfreedp::results
