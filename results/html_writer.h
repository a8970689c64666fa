// The table as an HTML5 fragment without style or script; plots/report.cpp gives it both. On a narrow screen
// the report's style turns rows into cards, for which every data cell carries its column's title in
// data-column.
#pragma once

#include <string>

#include "results/table_model.h"

namespace hyfreedp::results {

std::string html_escaped(const std::string& text);

std::string html_panel(const TableModel& table, const PanelModel& panel);
// Footnotes (targets of the markers) and how to read the table.
std::string html_notes(const TableModel& table);

}  // namespace hyfreedp::results
