// The formats that a table can be had in, for comparisons and for tables of plain values alike.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "results/table/table_model.h"
#include "results/table/terminal_writer.h"
#include "results/table/value_table.h"

namespace hyfreedp::cli {

enum class TableFormat { terminal, markdown, csv, latex, latex_tables, html };

// "terminal", "md", "markdown", "csv", "tex", "tex-table" (without a document around it), "html".
inline constexpr const char* kTableFormats = "terminal|md|csv|tex|tex-table|html";
Result<TableFormat> table_format_from(const std::string& name);

// `style` is of the terminal format alone.
std::string formatted(const results::TableModel& table, TableFormat format,
                      const results::TerminalStyle& style);
std::string formatted(const results::ValueTable& table, TableFormat format,
                      const results::TerminalStyle& style);

// FOLDER/NAME.{md, csv, tex, html}; returns the paths.
Result<std::vector<std::string>> write_table_files(const results::TableModel& table,
                                                   const std::string& folder, const std::string& name);
Result<std::vector<std::string>> write_table_files(const results::ValueTable& table,
                                                   const std::string& folder, const std::string& name);

}  // namespace hyfreedp::cli
