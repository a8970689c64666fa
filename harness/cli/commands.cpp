#include "harness/cli/commands.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace hyfreedp::cli {
namespace {

void print_overview(std::ostream& out) {
  out << "hyfreedp compares differentially private training methods: a table of method, dataset, model\n"
         "and epsilon, every cell with the epsilon that was really spent to get it.\n\n";
  for (const auto& command : commands()) {
    out << fmt::format("  {:<11} {}\n  {:<11}   {}\n", command.name, command.summary, "", command.example);
  }
  out << "\nhyfreedp help COMMAND, or COMMAND --help, tells more. --version prints the version.\n"
         "Exit codes: 0 done, 1 it ran and something failed, 2 bad input, 130 stopped by Ctrl-C; where one\n"
         "means more, the command's --help says so.\n";
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      run_command(),    status_command(),  cancel_command(),      retry_command(),  note_command(),
      tag_command(),    watch_command(),   table_command(),       plot_command(),   report_command(),
      diff_command(),   trace_command(),   export_cell_command(), verify_command(), archive_command(),
      replay_command(), regress_command(), odometer_command(),    export_command(), doctor_command(),
      merge_command(),  epsilon_command(), calibrate_command(),   audit_command(),  list_command(),
      data_command(),   new_command(),     generate_command(),    score_command(),  completion_command(),
  };
  return all;
}

int dispatch(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (arguments.size() > 1 && arguments[0] == "help") {  // help COMMAND is COMMAND --help
    std::vector<std::string> asked(arguments.begin() + 1, arguments.end());
    asked.emplace_back("--help");
    return dispatch(asked, out, err);
  }
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_overview(out);
    return 0;
  }
  if (arguments[0] == "--version") {
    out << fmt::format("hyfreedp {}\n", program_version());
    return 0;
  }
  const auto& all = commands();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == arguments[0]; });
  if (found == all.end()) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const auto& command : all) names.push_back(command.name);
    err << fmt::format("hyfreedp: there is no command '{}'.{} Commands: {}.\n", arguments[0],
                       did_you_mean(arguments[0], names), join(names, ", "));
    return 2;
  }
  try {
    return run(*found, {arguments.begin() + 1, arguments.end()}, out, err);
  } catch (const std::exception& failure) {
    err << fmt::format("hyfreedp {}: {}\n", found->name, failure.what());
    return 1;
  }
}

}  // namespace hyfreedp::cli
