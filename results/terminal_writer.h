// A table as text for a terminal or a pipe. Values are never cut: columns that do not fit into
// `width` are printed as further blocks beneath, and details are wrapped at spaces.
#pragma once

#include <string>

#include "results/document.h"

namespace hyfreedp::results {

struct TerminalStyle {
  std::size_t width = 100;
  bool colour = false;
};

// The style for standard output: the terminal's width if it is a terminal (else COLUMNS, else 100),
// and colour on a terminal without NO_COLOR.
TerminalStyle style_of_standard_output();

std::string terminal_text(const Document& document, const TerminalStyle& style);
std::string terminal_table(const TableModel& table, const TerminalStyle& style);

}  // namespace hyfreedp::results
