// Every command of `hyfreedp` in one table, which dispatch, the overview, completion and the tests
// of --help read.
//
// A command is described in a file of its own, NAME_command.cpp (common/command.h says how), and
// declared here. Exit codes: 0 done; 1 the work ran and something in it failed
// unexpectedly; 2 bad input; 130 stopped by Ctrl-C.
#pragma once

#include "harness/cli/common/command.h"

namespace hyfreedp::cli {

const std::vector<Command>& commands();

Command run_command();
Command status_command();
Command cancel_command();
Command retry_command();
Command note_command();
Command tag_command();
Command watch_command();
Command table_command();
Command plot_command();
Command report_command();
Command diff_command();
Command trace_command();
Command export_cell_command();
Command verify_command();
Command archive_command();
Command replay_command();
Command regress_command();
Command odometer_command();
Command export_command();
Command doctor_command();
Command merge_command();
Command epsilon_command();
Command calibrate_command();
Command audit_command();
Command list_command();
Command data_command();
Command new_command();
Command generate_command();
Command score_command();
Command completion_command();

// Runs `hyfreedp ARGUMENTS`. No arguments or --help: the overview. An unknown command names the
// nearest one.
int dispatch(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
