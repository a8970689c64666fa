#include <fmt/format.h>
#include <map>

#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/study_choice.h"
#include "harness/cli/run/commands.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/study_request.h"
#include "results/store/states.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp cancel SPEC [--only KEY=VALUE,...] [options]\n"
    "Ends studies that are not over: they are `failed: cancelled`, and no run of the spec goes on with them "
    "before\n"
    "`hyfreedp retry`. Where a run works in DIR, it stops those of their runs that no other study wants, "
    "with "
    "a\n"
    "checkpoint, and goes on with the rest. What began stays charged as planned; a private selection stays "
    "charged as a\n"
    "whole, however many runs it had made.\n"
    "Example: hyfreedp cancel quick --only row=dp-hyper,epsilon=1 --out out\n"
    "Exit code: 0 these studies are cancelled now, 1 some could not be, 2 bad input, none of them was open, "
    "or the\n"
    "run did not answer.\n\n";

}  // namespace

int cancel_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  StudyChoice choice;
  CommandLine line{.command = "cancel", .usage = kUsage, .positional = "spec"};
  add_choice_options(line.options, choice, "cancel");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("spec") > 0) choice.spec = given["spec"].as<std::string>();

  const auto store = open_for_reading(choice.out);
  if (!store) return refused("cancel", store.error(), err);
  const auto chosen = chosen_studies(**store, choice);
  if (!chosen) return refused("cancel", chosen.error(), err);
  const auto& name = chosen->spec.name;
  runner::StudyRequest request{.kind = runner::StudyRequest::Kind::cancel};
  std::size_t before = 0;
  for (const auto& study : chosen->studies) {
    if (!results::is_answered(study)) request.studies.push_back(study.id);
    if (results::is_cancelled(study)) ++before;
  }
  if (request.studies.empty()) {
    if (before > 0) {
      out << fmt::format("{} were cancelled before; nothing else was open.\n", studies_text(before, name));
      return 0;
    }
    return refused("cancel",
                   error(fmt::format("{}: none is open.", studies_text(chosen->studies.size(), name))), err);
  }
  if (auto done = runner::hand_in({choice.out}, request); !done) return refused("cancel", done.error(), err);

  const auto after = open_for_reading(choice.out);
  if (!after) return refused("cancel", after.error(), err);
  std::size_t cancelled = 0;
  for (const auto& id : request.studies) {
    const auto study = (**after).study(id);
    if (!study) return refused("cancel", study.error(), err);
    if (!*study) continue;
    if (results::is_cancelled(**study)) {
      ++cancelled;
      out << "cancelled: " << runner::study_text(**study) << '\n';
    } else {
      err << fmt::format("hyfreedp cancel: {}: it came to its end before, or could not be ended.\n",
                         runner::study_text(**study));
    }
  }
  out << fmt::format("{} cancelled.\n", studies_text(cancelled, name));
  return cancelled == request.studies.size() ? 0 : 1;
}

}  // namespace hyfreedp::cli
