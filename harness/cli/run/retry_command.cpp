#include <fmt/format.h>

#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/study_choice.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/restored_releases.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Opens studies again that were cancelled, or lost by the machine: the next `hyfreedp run` of the spec
goes on with them, from their runs' checkpoints where these are. A failure that is an answer
(diverged, infeasible-epsilon, ...) stays. No run may work in DIR.
Example: hyfreedp retry quick --only row=dp-hyper,epsilon=1 --out out
Exit code: 0 these studies are open, 2 bad input, none of them can be, or a run works in DIR.)";

struct RetryRequest : StudyChoice {
  void describe(Options& options) { StudyChoice::describe(options, "retry"); }
};

Outcome retry(const RetryRequest& choice, std::ostream& out, std::ostream& err) {
  // Errors of the request are told before anything is locked or made.
  if (const auto there = open_for_reading(choice.out); !there) return there.error();
  const runner::OutFolder folder{choice.out};
  const auto lock = runner::FolderLock::acquire(folder);
  if (!lock) return lock.error();
  const auto store = results::Store::open(folder.database(), results::Store::Mode::read_write);
  if (!store) return store.error();
  // The database may be an older copy than the release records.
  if (auto restored = runner::restore_from_records(**store, folder); !restored) return restored.error();
  if (auto caught_up = runner::catch_up(**store, folder); !caught_up) return caught_up.error();
  const auto chosen = chosen_studies(**store, choice);
  if (!chosen) return chosen.error();
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
    if (auto opened = runner::reopen(**store, folder, chosen->spec, studies); !opened) return opened.error();
  }
  for (const auto& study : studies) out << "open again: " << runner::study_text(study) << '\n';
  for (const auto& reason : reasons) err << "hyfreedp retry: not " << reason << '\n';
  if (studies.empty() && open_before == 0) {
    return error(fmt::format("{}: none can be tried again.", studies_text(chosen->studies.size(), name)));
  }
  out << fmt::format("{} open again{}; the next run of the spec goes on with them.\n",
                     studies_text(studies.size(), name),
                     open_before > 0 ? fmt::format(", {} open before", open_before) : "");
  return 0;
}

}  // namespace

Command retry_command() {
  return {"retry", kText, action<RetryRequest>(retry), "opens studies again that were cancelled or lost",
          "hyfreedp retry quick --only row=dp-hyper,epsilon=1"};
}

}  // namespace hyfreedp::cli
