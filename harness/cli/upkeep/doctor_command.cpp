#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/cli/common/command_line.h"
#include "harness/cli/upkeep/commands.h"
#include "harness/runner/upkeep/doctor.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp doctor [options]\n"
    "Examines an output folder: the database, permissions, files that killed processes left, the lock, "
    "journals and keys,\n"
    "release records, staged weights, free space, and the programs that runs need. A line for each finding "
    "says what is\n"
    "wrong, where, what to do, whether --repair does it, and what that costs. --repair mends permissions and "
    "removes\n"
    "temporary files of dead processes. It never touches keys, journals, release records or the database.\n"
    "Exit code: 0 nothing is wrong, or all was repaired; 1 findings are left; 2 bad input.\n"
    "Example: hyfreedp doctor --out out\n\n";

std::string line_of(const runner::Diagnosis::Found& found) {
  const auto& finding = found.finding;
  std::string line =
      fmt::format("{}  {}: {}. {}", found.check, finding.where, finding.problem, finding.remedy);
  if (!line.ends_with('.')) line += '.';
  line += finding.repair ? " --repair does it." : " --repair leaves it to you.";
  line += finding.cost.empty() ? " Cost: none." : fmt::format(" Cost: {}.", finding.cost);
  return line + "\n";
}

}  // namespace

int doctor_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::string root;
  bool repair = false;
  bool confidential = false;
  CommandLine line{.command = "doctor", .usage = kUsage};
  line.options.add_options()("help,h", "this text")(
      "out", options::value(&root)->default_value("out")->value_name("DIR"), "output folder")(
      "repair", options::bool_switch(&repair),
      "mend permissions and remove temporary files of dead processes")(
      "confidential", options::bool_switch(&confidential),
      "name and count also what may belong to a private selection's runs");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  const runner::OutFolder folder{root};
  auto diagnosis = runner::examine(folder, {.confidential = confidential});
  if (!diagnosis) return refused("doctor", diagnosis.error(), err);
  std::optional<runner::FolderLock> lock;
  if (repair) {
    auto held = runner::FolderLock::acquire(folder);
    if (!held) return refused("doctor", held.error(), err);
    lock = std::move(*held);
  }
  if (confidential) out << results::kWatermark << "\n\n";
  std::int64_t repaired = 0;
  if (lock) {
    const runner::DoctorOptions alone{.confidential = confidential, .holds_lock = true};
    diagnosis = runner::examine(folder, alone);
    if (!diagnosis) return refused("doctor", diagnosis.error(), err);
    for (const auto& found : diagnosis->findings) {
      if (!found.finding.repair) continue;
      const auto done = found.finding.repair();
      out << line_of(found)
          << (done ? "  repaired\n" : fmt::format("  not repaired: {}\n", done.error().message));
      if (done) ++repaired;
    }
    diagnosis = runner::examine(folder, alone);  // a file that was closed can be read now
    if (!diagnosis) return refused("doctor", diagnosis.error(), err);
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

}  // namespace hyfreedp::cli
