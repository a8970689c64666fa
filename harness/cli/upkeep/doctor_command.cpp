#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command.h"
#include "harness/runner/upkeep/doctor.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Examines an output folder: the database, permissions, files that killed processes left, the lock,
journals and keys, release records, staged weights, free space, and the programs that runs need. A
line for each finding says what is wrong, where, what to do, whether --repair does it, and what that
costs. --repair mends permissions and removes temporary files of dead processes. It never touches
keys, journals, release records or the database.
Exit code: 0 nothing is wrong, or all was repaired; 1 findings are left; 2 bad input.
Example: hyfreedp doctor --out out)";

std::string line_of(const runner::Diagnosis::Found& found) {
  const auto& finding = found.finding;
  std::string line =
      fmt::format("{}  {}: {}. {}", found.check, finding.where, finding.problem, finding.remedy);
  if (!line.ends_with('.')) line += '.';
  line += finding.repair ? " --repair does it." : " --repair leaves it to you.";
  line += finding.cost.empty() ? " Cost: none." : fmt::format(" Cost: {}.", finding.cost);
  return line + "\n";
}

struct DoctorRequest {
  std::string out = "out";
  bool repair = false;
  bool confidential = false;

  void describe(Options& options) {
    options.value(out, "out", "DIR", "output folder");
    options.flag(repair, "repair", "mend permissions and remove temporary files of dead processes");
    options.flag(confidential, "confidential",
                 "name and count also what may belong to a private selection's runs");
  }
};

Outcome doctor(const DoctorRequest& request, std::ostream& out, std::ostream&) {
  const auto& [root, repair, confidential] = request;
  const runner::OutFolder folder{root};
  auto diagnosis = runner::examine(folder, {.confidential = confidential});
  if (!diagnosis) return diagnosis.error();
  std::optional<runner::FolderLock> lock;
  if (repair) {
    auto held = runner::FolderLock::acquire(folder);
    if (!held) return held.error();
    lock = std::move(*held);
  }
  if (confidential) out << results::kWatermark << "\n\n";
  std::int64_t repaired = 0;
  if (lock) {
    const runner::DoctorOptions alone{.confidential = confidential, .holds_lock = true};
    diagnosis = runner::examine(folder, alone);
    if (!diagnosis) return diagnosis.error();
    for (const auto& found : diagnosis->findings) {
      if (!found.finding.repair) continue;
      const auto done = found.finding.repair();
      out << line_of(found)
          << (done ? "  repaired\n" : fmt::format("  not repaired: {}\n", done.error().message));
      if (done) ++repaired;
    }
    diagnosis = runner::examine(folder, alone);  // a file that was closed can be read now
    if (!diagnosis) return diagnosis.error();
  }
  if (diagnosis->worker) {
    out << fmt::format("Process {} works in {}, so journals, keys and temporary files are not judged.\n",
                       *diagnosis->worker, root);
  }
  for (const auto& found : diagnosis->findings) out << line_of(found);
  const auto left = static_cast<std::int64_t>(diagnosis->findings.size());
  if (repaired > 0 || left > 0) {
    out << fmt::format("{} left{}.\n", counted(left, "finding"),
                       repaired > 0 ? fmt::format(", {} repaired", repaired) : "");
  } else {
    out << fmt::format("Nothing is wrong with {}.\n", root);
  }
  return left > 0 ? 1 : 0;
}

}  // namespace

Command doctor_command() {
  return {"doctor", kText, action<DoctorRequest>(doctor),
          "what is wrong with an output folder, and what to do; --repair mends what is safe",
          "hyfreedp doctor --out out"};
}

}  // namespace hyfreedp::cli
