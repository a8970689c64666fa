#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/cli/check/commands.h"
#include "harness/cli/common/command_line.h"
#include "harness/runner/execute/cell_plan.h"
#include "results/provenance/cell_file.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp verify FILE.json [options]\n"
    "Derives a cell's mean, standard deviation, n and epsilon from the values and events in its file, which "
    "hyfreedp\n"
    "export-cell wrote, and prints them beside what the file claims; seeds, column, label, flags and method "
    "are "
    "held against\nthe row, the configs and the studies' ids. It needs no database and no data.\n"
    "Exit code: 0 all agrees, 1 something does not, 2 the file cannot be read.\n"
    "Example: hyfreedp verify cell.json\n\n";

}  // namespace

int verify_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  bool json = false;
  CommandLine line{.command = "verify", .usage = kUsage, .positional = "file"};
  line.options.add_options()("help,h", "this text")("json", options::bool_switch(&json),
                                                    "print a JSON object");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("file") == 0) {
    return refused("verify",
                   error("name a file that hyfreedp export-cell wrote; see hyfreedp verify --help."), err);
  }
  const auto& path = given["file"].as<std::string>();
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return refused("verify",
                   error(fmt::format("{0} is a folder; verify wants the file that `hyfreedp export-cell` "
                                     "writes. An archive is tested by `hyfreedp archive --check {0}`.",
                                     path)),
                   err);
  }
  const auto text = read_file(path);
  if (!text) return refused("verify", text.error(), err);
  if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    return refused(
        "verify",
        error(fmt::format("verify wants the file that `hyfreedp export-cell` writes, not {0}. A spec is "
                          "checked by `hyfreedp run {0} --dry-run`.",
                          path)),
        err);
  }
  auto verification = results::verify_cell_text(*text, path);
  if (!verification) {
    auto why = verification.error().message;
    if (why.ends_with('.')) why.pop_back();
    return refused("verify", error(why + "; verify wants the file that `hyfreedp export-cell` writes."), err);
  }
  const auto planned = runner::plan_checks(parse_json(*text, path)->as_object());
  verification->checks.insert(verification->checks.end(), planned.begin(), planned.end());
  if (json) {
    out << pretty_json(results::verification_json(*verification));
  } else {
    out << results::verification_text(*verification);
  }
  return verification->agrees() ? 0 : 1;
}

}  // namespace hyfreedp::cli
