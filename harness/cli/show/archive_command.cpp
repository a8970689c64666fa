#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/archive.h"
#include "harness/cli/show/commands.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp archive SPEC --name NAME [options]\n"
    "hyfreedp archive --check FOLDER\n"
    "Freezes a finished table: FOLDER results/archive/NAME gets the table in every format, the figures, the "
    "spec as run,\n"
    "the part of the database that the table rests on, provenance and checksums, all read-only. It is never "
    "overwritten,\n"
    "and nothing confidential is in it. --check looks at the checksums and builds the tables anew, byte for "
    "byte.\n"
    "Exit code: 0, 1 where --check finds a difference, 2 bad input.\n"
    "Example: hyfreedp archive quick --name quick --out out\n\n";

struct Request {
  std::string spec;
  std::string name;
  std::string root;
  std::string out;
  std::string check;
  bool partial = false;
};

int check(const std::string& folder, std::ostream& out, std::ostream& err) {
  const auto checked = check_archive(folder);
  if (!checked) return refused("archive", checked.error(), err);
  for (const auto& text : checked->passed) out << "  ok         " << text << '\n';
  for (const auto& text : checked->failed) out << "  DIFFERENT  " << text << '\n';
  out << folder << (checked->failed.empty() ? ": as it was frozen\n" : ": NOT as it was frozen\n");
  return checked->failed.empty() ? 0 : 1;
}

int freeze(const Request& request, std::ostream& out, std::ostream& err) {
  const auto store = open_for_reading(request.out);
  if (!store) return refused("archive", store.error(), err);
  const auto archived = archive(**store, {.spec = request.spec,
                                          .name = request.name.empty() ? request.spec : request.name,
                                          .root = request.root,
                                          .partial = request.partial});
  if (!archived) return refused("archive", archived.error(), err);
  std::uintmax_t bytes = 0;
  for (const auto& file : archived->files) {
    out << fmt::format("  {:>8}  {}\n", bytes_text(file.bytes), file.name);
    bytes += file.bytes;
  }
  out << fmt::format("{}: {} files, {}, read-only\n", archived->folder, archived->files.size(),
                     bytes_text(bytes));
  if (archived->unfinished > 0)
    out << fmt::format("PARTIAL. Cells that are not finished: {}.\n", archived->unfinished);
  return 0;
}

}  // namespace

int archive_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Request request;
  CommandLine line{.command = "archive", .usage = kUsage, .positional = "spec"};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("name", options::value(&request.name)->value_name("NAME"), "of the archive; default: the spec's");
  add("to", options::value(&request.root)->default_value("results/archive")->value_name("DIR"),
      "folder of the archives");
  add("out", options::value(&request.out)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  add("partial", options::bool_switch(&request.partial),
      "archive a table with unfinished studies too, and mark it as partial");
  add("check", options::value(&request.check)->value_name("FOLDER"), "check whether an archive is unchanged");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) request.spec = given["spec"].as<std::string>();
  if (!request.check.empty()) {
    if (!request.spec.empty() || !request.name.empty() || request.partial) {
      return refused("archive", error("--check FOLDER cannot be combined with a spec or other options."),
                     err);
    }
    return check(request.check, out, err);
  }
  if (request.spec.empty()) {
    return refused("archive",
                   error("name a spec of the database, for example quick; see hyfreedp archive --help."),
                   err);
  }
  return freeze(request, out, err);
}

}  // namespace hyfreedp::cli
