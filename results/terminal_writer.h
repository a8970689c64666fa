// A table as text for a terminal or a pipe. A value is never cut: what does not fit into `width` columns side by side is
// printed as further blocks of columns beneath, and details are wrapped at spaces before a column grows too wide.
#pragma once

#include <string>

#include "results/document.h"

namespace hyfreedp::results {

struct TerminalStyle {
  std::size_t width = 100;
  bool colour = false;
};

// Of standard output: its width where it is a terminal (else COLUMNS, else 100); colour on a terminal without
// NO_COLOR.
TerminalStyle style_of_standard_output();

std::string terminal_text(const Document& document, const TerminalStyle& style);
std::string terminal_table(const TableModel& table, const TerminalStyle& style);

}  // namespace hyfreedp::results
