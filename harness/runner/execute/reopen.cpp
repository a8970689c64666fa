#include "harness/runner/execute/reopen.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/records.h"

namespace hyfreedp::runner {
namespace {

// Refuses a spec that could not be completed any more, as a run does (coordinator.cpp), before its
// rows are opened.
Result<void> check_draws(const OutFolder& out, const results::SpecRecord& record,
                         const std::vector<results::StudyRecord>& studies) {
  auto content = results::spec_of(record);
  if (!content) return content.error();
  const Spec spec{.path = record.name, .text = record.text, .content = std::move(*content)};
  if (has_seeded_noise(spec) || std::filesystem::exists(out.draw_key(record.name))) return {};
  auto planned = plan_release(spec);
  if (!planned) return planned.error();
  std::erase_if(*planned, [&](const PlannedStudy& study) {
    return std::ranges::find(studies, study.id, &results::StudyRecord::id) == studies.end();
  });
  if (!draws_anything(*planned)) return {};
  return error(fmt::format(
      "{}: the key of this spec's draws is gone, so rows that draw cannot be opened again: other draws would "
      "release the same data a second time unseen. Put the file back from a copy, or make that new release "
      "with `hyfreedp run --fresh`.",
      out.draw_key(record.name)));
}

}  // namespace

Result<void> reopen(results::Store& store, const OutFolder& out, const results::SpecRecord& spec,
                    const std::vector<results::StudyRecord>& studies) {
  if (auto checked = check_draws(out, spec, studies); !checked) return checked;
  for (const auto& study : studies) {
    if (auto kept = keep_lost_cost(store, study); !kept) return kept;
    if (auto written = store.put_study(as_reopened(study)); !written) return written;
  }
  return update_release_record(store, out, spec.name);
}

}  // namespace hyfreedp::runner
