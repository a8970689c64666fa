// Writes a document (results/table/document.h) as text for a terminal or a pipe. Values are never
// cut: columns that do not fit into the width are printed in further blocks below, and long texts
// are wrapped at spaces.
#pragma once

#include <string>

#include "results/table/document.h"

namespace hyfreedp::results {

struct TerminalStyle {
  std::size_t width = 100;  // characters a line; less than 40 counts as 40
  bool colour = false;      // ANSI escape codes
};

// The style for standard output. The width is the terminal's, else the environment variable
// COLUMNS, else 100. There is colour on a terminal, unless NO_COLOR is set to a non-empty value.
TerminalStyle style_of_standard_output();

// The document as text. A confidential one has a warning at the beginning and at the end.
std::string terminal_text(const Document& document, const TerminalStyle& style);
// The same for a comparison.
std::string terminal_table(const TableModel& table, const TerminalStyle& style);

}  // namespace hyfreedp::results
