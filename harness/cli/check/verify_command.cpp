#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/cell_plan.h"
#include "results/provenance/cell_file.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Derives a cell's mean, standard deviation, n and epsilon from the values and events in its file,
which hyfreedp export-cell wrote, and prints them beside what the file claims; seeds, column, label,
flags and method are held against the row, the configs and the studies' ids. It needs no database
and no data.
Exit code: 0 all agrees, 1 something does not, 2 the file cannot be read.
Example: hyfreedp verify cell.json)";

struct VerifyRequest {
  std::optional<std::string> file;
  bool json = false;

  void describe(Options& options) {
    options.positional(file, "file", "FILE.json");
    options.flag(json, "json", "print a JSON object");
  }
};

Outcome verify(const VerifyRequest& request, std::ostream& out, std::ostream&) {
  if (!request.file) return unusable("name a file that hyfreedp export-cell wrote");
  const auto& path = *request.file;
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return error(
        fmt::format("{0} is a folder; verify wants the file that `hyfreedp export-cell` writes. An "
                    "archive is tested by `hyfreedp archive --check {0}`.",
                    path));
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  if (is_file_of_spec(path)) {
    return error(
        fmt::format("verify wants the file that `hyfreedp export-cell` writes, not {0}. A spec is "
                    "checked by `hyfreedp run {0} --dry-run`.",
                    path));
  }
  auto verification = results::verify_cell_text(*text, path);
  if (!verification) {
    auto why = verification.error().message;
    if (why.ends_with('.')) why.pop_back();
    return error(why + "; verify wants the file that `hyfreedp export-cell` writes.");
  }
  const auto planned = runner::plan_checks(parse_json(*text, path)->as_object());
  verification->checks.insert(verification->checks.end(), planned.begin(), planned.end());
  out << (request.json ? pretty_json(results::verification_json(*verification))
                       : results::verification_text(*verification));
  return verification->agrees() ? 0 : 1;
}

}  // namespace

Command verify_command() {
  return {"verify", kText, action<VerifyRequest>(verify),
          "derives a cell's mean and epsilon from its file alone", "hyfreedp verify cell.json"};
}

}  // namespace hyfreedp::cli
