#include "harness/cli/common/cell_request.h"

namespace hyfreedp::cli {

namespace options = boost::program_options;

std::optional<int> parse_cell_command(const std::string& command, const std::string& usage,
                                      const options::options_description& further,
                                      const std::vector<std::string>& arguments, CellCommand& request,
                                      std::ostream& out, std::ostream& err) {
  CommandLine line{
      .command = command, .usage = usage, .positional = "spec", .more_positional = {"row", "column"}};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("panel", options::value(&request.cell.panel)->value_name("ID"),
      "the panel; default: the first that has the row and column");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  line.options.add(further);
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return code;
  for (const auto& [name, target] : {std::pair{"spec", &request.spec}, std::pair{"row", &request.cell.row},
                                     std::pair{"column", &request.cell.column}}) {
    if (given.count(name) > 0) *target = given[name].as<std::string>();
    if (!target->empty()) continue;
    return refused(
        command,
        error(std::string("the ") + name + " is missing: hyfreedp " + command +
              " SPEC ROW COLUMN, for example quick prodigy 3; see hyfreedp " + command + " --help."),
        err);
  }
  return std::nullopt;
}

}  // namespace hyfreedp::cli
