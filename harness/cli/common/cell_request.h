// The command line that trace and export-cell share: SPEC ROW COL [--panel ID] [--out DIR].
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/cli/common/command_line.h"
#include "results/table/cell_place.h"

namespace hyfreedp::cli {

struct CellCommand {
  std::string spec;
  std::string out = "out";
  results::CellRequest cell;
};

// Returns the exit code if the command is done: 0 after --help (it prints `usage` and all options),
// 2 after an error.
std::optional<int> parse_cell_command(const std::string& command, const std::string& usage,
                                      const boost::program_options::options_description& further,
                                      const std::vector<std::string>& arguments, CellCommand& request,
                                      std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
