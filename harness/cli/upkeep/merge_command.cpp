#include <filesystem>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command_line.h"
#include "harness/cli/upkeep/commands.h"
#include "harness/runner/upkeep/merge.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp merge OTHER_DIR... [options]\n"
    "Brings the specs, rows, runs and journals of other output folders, such as other machines', into one. "
    "Keys stay where\n"
    "they are. All folders are compared first: what is equal is one, and any contradiction (a run with other "
    "metrics or\n"
    "events, a row with another epsilon, an unseeded run that was made twice) refuses the whole merge. "
    "Machines "
    "may share\n"
    "the seeds of a spec without noise_seed (hyfreedp run SPEC --only seed=0). Tables, "
    "plots and\n"
    "kept weights are not copied: hyfreedp report NAME --out DIR makes tables and plots again.\n"
    "Exit code: 0 merged, 2 refused; nothing was written then.\n"
    "Example: hyfreedp merge machine-2/out machine-3/out --out out\n\n";

}  // namespace

int merge_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::string root;
  CommandLine line{.command = "merge", .usage = kUsage, .list = "folders"};
  line.options.add_options()("help,h", "this text")(
      "out", options::value(&root)->default_value("out")->value_name("DIR"),
      "output folder that gets everything; it is made if it is not there");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("folders") == 0) {
    return refused("merge", error("name the folders to bring; see hyfreedp merge --help."), err);
  }
  std::vector<runner::OutFolder> others;
  for (const auto& folder : given["folders"].as<std::vector<std::string>>()) {
    // Before DIR is made.
    if (!std::filesystem::is_directory(folder)) {
      return refused("merge", error(fmt::format("there is no folder {}.", folder)), err);
    }
    others.push_back({folder});
  }
  const runner::OutFolder into{root};
  const auto lock = runner::FolderLock::acquire(into);
  if (!lock) return refused("merge", lock.error(), err);
  const auto store = results::Store::open(into.database(), results::Store::Mode::read_write);
  if (!store) return refused("merge", store.error(), err);
  const auto report = runner::merge_folders(into, **store, others);
  if (!report) return refused_lines("merge", report.error(), err);
  out << fmt::format("{}: {} new or newly answered, {} the same already.\n", root,
                     counted(static_cast<std::int64_t>(report->studies), "study", "studies"), report->equal);
  if (!report->specs.empty()) out << fmt::format("New specs: {}.\n", join(report->specs, ", "));
  for (const auto& note : report->notes) out << note << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
