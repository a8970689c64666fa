#include <fmt/format.h>

#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/study_choice.h"
#include "harness/cli/run/commands.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/odometer/release.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp retry SPEC [--only KEY=VALUE,...] [options]\n"
    "Opens studies again that were cancelled, or lost by the machine: the next `hyfreedp run` of the spec "
    "goes "
    "on with\n"
    "them, from their runs' checkpoints where these are. A failure that is an answer (diverged, "
    "infeasible-epsilon, ...)\n"
    "stays. No run may work in DIR.\n"
    "Example: hyfreedp retry quick --only row=dp-hyper,epsilon=1 --out out\n"
    "Exit code: 0 these studies are open, 2 bad input, none of them can be, or a run works in DIR.\n\n";

}  // namespace

int retry_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  StudyChoice choice;
  CommandLine line{.command = "retry", .usage = kUsage, .positional = "spec"};
  add_choice_options(line.options, choice, "retry");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) choice.spec = given["spec"].as<std::string>();

  // What is wrong with the request is said before anything is locked or made.
  if (const auto there = open_for_reading(choice.out); !there) return refused("retry", there.error(), err);
  const runner::OutFolder folder{choice.out};
  const auto lock = runner::FolderLock::acquire(folder);
  if (!lock) return refused("retry", lock.error(), err);
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_write);
  if (!store) return refused("retry", store.error(), err);
  const auto chosen = chosen_studies(**store, choice);
  if (!chosen) return refused("retry", chosen.error(), err);
  const auto& name = chosen->spec.name;

  std::vector<results::StudyRecord> studies;
  std::vector<std::string> reasons;
  std::size_t open_before = 0;
  const auto seeded = runner::has_seeded_noise(chosen->spec);
  for (const auto& study : chosen->studies) {
    if (const auto why = runner::why_not_retried(study, seeded)) {
      // A value is no news where all of a spec are asked for.
      if (study.state == results::StudyState::failed || !choice.only.empty())
        reasons.push_back(fmt::format("{}: {}.", runner::study_text(study), *why));
    } else if (study.state == results::StudyState::open) {
      ++open_before;
    } else {
      studies.push_back(study);
    }
  }
  if (!studies.empty()) {
    if (auto opened = runner::reopen(**store, folder, chosen->spec, studies); !opened)
      return refused("retry", opened.error(), err);
  }
  for (const auto& study : studies) out << "open again: " << runner::study_text(study) << '\n';
  for (const auto& reason : reasons) err << "hyfreedp retry: not " << reason << '\n';
  if (studies.empty() && open_before == 0) {
    return refused(
        "retry",
        error(fmt::format("{}: none can be tried again.", studies_text(chosen->studies.size(), name))), err);
  }
  out << fmt::format("{} open again{}; the next run of the spec goes on with them.\n",
                     studies_text(studies.size(), name),
                     open_before > 0 ? fmt::format(", {} open before", open_before) : "");
  return 0;
}

}  // namespace hyfreedp::cli
