#include <fmt/format.h>
#include <map>

#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/study_choice.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/study_request.h"
#include "results/store/states.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Ends studies that are not over: they are `failed: cancelled`, and no run of the spec goes on with
them before `hyfreedp retry`. Where a run works in DIR, it stops those of their runs that no other
study wants, with a checkpoint, and goes on with the rest. What began stays charged as planned; a
private selection stays charged as a whole, however many runs it had made.
Example: hyfreedp cancel quick --only row=dp-hyper,epsilon=1 --out out
Exit code: 0 these studies are cancelled now, 1 some could not be, 2 bad input, none of them was
open, or the run did not answer.)";

struct CancelRequest : StudyChoice {
  void describe(Options& options) { StudyChoice::describe(options, "cancel"); }
};

Outcome cancel(const CancelRequest& choice, std::ostream& out, std::ostream& err) {
  const auto store = open_for_reading(choice.out);
  if (!store) return store.error();
  const auto chosen = chosen_studies(**store, choice);
  if (!chosen) return chosen.error();
  const auto& name = chosen->spec.name;
  runner::StudyRequest request{.kind = runner::StudyRequest::Kind::cancel};
  std::size_t before = 0;
  for (const auto& study : chosen->studies) {
    if (!results::is_answered(study)) request.studies.push_back(study.id);
    if (results::is_cancelled(study)) ++before;
  }
  if (request.studies.empty()) {
    if (before > 0) {
      // The database may be an older copy: their prices follow what the files beside it tell.
      if (auto done = runner::hand_in({choice.out}, request); !done) return done.error();
      out << fmt::format("{} were cancelled before; nothing else was open.\n", studies_text(before, name));
      return 0;
    }
    return error(fmt::format("{}: none is open.", studies_text(chosen->studies.size(), name)));
  }
  if (auto done = runner::hand_in({choice.out}, request); !done) return done.error();

  const auto after = open_for_reading(choice.out);
  if (!after) return after.error();
  std::size_t cancelled = 0;
  for (const auto& id : request.studies) {
    const auto study = (**after).study(id);
    if (!study) return study.error();
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

}  // namespace

Command cancel_command() {
  return {"cancel", kText, action<CancelRequest>(cancel),
          "ends studies that are not over, also while a run works on them",
          "hyfreedp cancel quick --only row=dp-hyper,epsilon=1"};
}

}  // namespace hyfreedp::cli
