#include <filesystem>
#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/odometer/restored_releases.h"
#include "harness/runner/upkeep/merge.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Brings the specs, rows, runs and journals of other output folders, such as other machines', into
one. Keys stay where they are. All folders are compared first: what is equal is one, and any
contradiction (a run with other metrics or events, a row with another epsilon, an unseeded run that
was made twice) refuses the whole merge. Machines may share the seeds of a spec without noise_seed
(hyfreedp run SPEC --only seed=0). Tables, plots and kept weights are not copied: hyfreedp report
NAME --out DIR makes tables and plots again.
Exit code: 0 merged, 2 refused; nothing was written then.
Example: hyfreedp merge machine-2/out machine-3/out --out out)";

struct MergeRequest {
  std::vector<std::string> folders;
  std::string out = "out";

  void describe(Options& options) {
    options.list(folders, "folders", "OTHER_DIR...");
    options.value(out, "out", "DIR", "output folder that gets everything; it is made if it is not there");
  }
};

Outcome merge(const MergeRequest& request, std::ostream& out, std::ostream&) {
  if (request.folders.empty()) return unusable("name the folders to bring");
  std::vector<runner::OutFolder> others;
  for (const auto& folder : request.folders) {
    // The folders are looked for before DIR is made.
    if (!std::filesystem::is_directory(folder)) return error(fmt::format("there is no folder {}.", folder));
    others.push_back({folder});
  }
  const runner::OutFolder into{request.out};
  const auto lock = runner::FolderLock::acquire(into);
  if (!lock) return lock.error();
  const auto store = results::Store::open(into.database(), results::Store::Mode::read_write);
  if (!store) return store.error();
  if (auto restored = runner::restore_from_records(**store, into); !restored) return restored.error();
  if (auto caught_up = runner::catch_up(**store, into); !caught_up) return caught_up.error();
  const auto report = runner::merge_folders(into, **store, others);
  if (!report) return in_lines(report.error());
  out << fmt::format("{}: {} new or newly answered, {} the same already.\n", request.out,
                     counted(static_cast<std::int64_t>(report->studies), "study", "studies"), report->equal);
  if (!report->specs.empty()) out << fmt::format("New specs: {}.\n", join(report->specs, ", "));
  for (const auto& note : report->notes) out << note << '\n';
  return 0;
}

}  // namespace

Command merge_command() {
  return {"merge", kText, action<MergeRequest>(merge),
          "brings the finished runs of other machines' output folders into one",
          "hyfreedp merge out/machine-2 --out out"};
}

}  // namespace hyfreedp::cli
