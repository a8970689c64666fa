// The commands of this room; each is a function in a file of its own, NAME_command.cpp. `arguments`
// are those after the command's name; harness/cli/commands.h says what a command returns.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace hyfreedp::cli {

// Prints a spec's table from the database and writes DIR/NAME/table.md and table.csv again.
int table_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// How two specs differ, and what of it re-trains nothing.
int diff_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Draws a spec's figures again: DIR/NAME/plots.
int plot_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Writes a spec's report again: DIR/NAME/report.html.
int report_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp list KIND [--json]`: what a spec may name, with sources, options and defaults.
int list_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp trace SPEC ROW COL`: the runs, configs, versions, events and epsilons behind a cell of
// a table.
int trace_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Machine-readable extracts of the database: events of a trial, rows of a spec.
int export_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp export-cell`: a cell of a table as one small file that `hyfreedp verify` checks without
// the database.
int export_cell_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// `hyfreedp archive`: freezes a table with its figures, its spec and the part of the database that
// it rests on.
int archive_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
