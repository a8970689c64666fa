#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/archive.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp archive SPEC --name NAME [options]
hyfreedp archive --check FOLDER
Freezes a finished table: FOLDER results/archive/NAME gets the table in every format, the figures,
the spec as run, the part of the database that the table rests on, provenance and checksums, all
read-only. It is never overwritten, and nothing confidential is in it. --check looks at the
checksums and builds the tables anew, byte for byte.
Exit code: 0, 1 where --check finds a difference, 2 bad input.
Example: hyfreedp archive quick --name quick --out out)";

// One command line for freezing and for looking at what was frozen.
struct FreezeRequest : ArchiveRequest {
  std::string out = "out";
  std::string folder;  // of --check

  void describe(Options& options) {
    options.positional(spec, "spec", "SPEC");
    options.value(name, "name", "NAME", "of the archive; default: the spec's");
    options.value(root, "to", "DIR", "folder of the archives");
    describe_out(options, out);
    options.flag(partial, "partial", "archive a table with unfinished studies too, and mark it as partial");
    options.value(folder, "check", "FOLDER", "check whether an archive is unchanged");
  }

  Checked check() const {
    if (!folder.empty() && (!spec.empty() || !name.empty() || partial)) {
      return error("--check FOLDER cannot be combined with a spec or other options.");
    }
    if (folder.empty() && spec.empty()) return unusable("name a spec of the database, for example quick");
    return {};
  }
};

Outcome check(const std::string& folder, std::ostream& out) {
  const auto checked = check_archive(folder);
  if (!checked) return checked.error();
  for (const auto& text : checked->passed) out << "  ok         " << text << '\n';
  for (const auto& text : checked->failed) out << "  DIFFERENT  " << text << '\n';
  out << folder << (checked->failed.empty() ? ": as it was frozen\n" : ": NOT as it was frozen\n");
  return checked->failed.empty() ? 0 : 1;
}

Outcome freeze(const FreezeRequest& request, std::ostream& out, std::ostream&) {
  if (!request.folder.empty()) return check(request.folder, out);
  const auto store = open_for_reading(request.out);
  if (!store) return store.error();
  ArchiveRequest asked = request;
  if (asked.name.empty()) asked.name = asked.spec;
  const auto archived = archive(**store, asked);
  if (!archived) return archived.error();
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

Command archive_command() {
  return {"archive", kText, action<FreezeRequest>(freeze),
          "freezes a table with its figures and the data that it rests on",
          "hyfreedp archive quick --name quick"};
}

}  // namespace hyfreedp::cli
