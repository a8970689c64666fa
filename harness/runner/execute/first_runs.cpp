#include "harness/runner/execute/first_runs.h"

#include <fmt/format.h>
#include <set>

#include "harness/base/error_list.h"
#include "harness/mechanism/run_check.h"

namespace hyfreedp::runner {
namespace {

Result<void> check(const trial::TrialConfig& config) {
  const auto facts = datasets::find_dataset(config.dataset.name);
  if (!facts) return facts.error();
  return mechanism::check_run(config, datasets::sizes(**facts, config.dataset.options));
}

// Says why a study that wants no run contradicts itself; none if its budget alone allows none.
std::optional<Error> contradiction_in(const PlannedStudy& study) {
  static const std::set<std::string> kContradictions = {"invalid-options", "empty-grid", "empty-part"};
  const auto end = study.baseline->conclude(study.cell, {});
  if (!end || !end->failure || !kContradictions.contains(end->failure->kind)) return std::nullopt;
  return error(end->failure->message);
}

}  // namespace

Result<std::vector<trial::TrialConfig>> first_runs(const PlannedStudy& study) {
  if (!study.baseline->confidential_runs) return study.baseline->next(study.cell, {});
  constexpr int kDraws = 100;
  auto cell = study.cell;
  for (int i = 0; i < kDraws; ++i) {
    cell.draw_secret = fmt::format("dry run {}", i);
    auto wanted = study.baseline->next(cell, {});
    if (!wanted) return wanted;
    if (!wanted->empty()) return std::vector<trial::TrialConfig>{wanted->front()};
  }
  return std::vector<trial::TrialConfig>{};
}

Result<void> check_first_runs(const std::vector<PlannedStudy>& studies) {
  ErrorList problems;
  // Cells of a row differ in noise and seed, of which the checks read neither.
  std::set<std::string> seen, named;
  for (const auto& study : studies) {
    const auto row = study.cell.panel + ", " + study.cell.row;
    if (!seen.insert(fmt::format("{} {}", row, study.cell.epsilon.has_value())).second) continue;
    if (named.contains(row)) continue;
    const auto wanted = first_runs(study);
    if (!wanted) continue;
    if (wanted->empty()) {
      if (const auto wrong = contradiction_in(study)) {
        problems.add(in_context(row, *wrong));
        named.insert(row);
      }
      continue;
    }
    for (const auto& config : *wanted) {
      if (auto fits = check(config); !fits) {
        problems.add(in_context(row, fits.error()));
        named.insert(row);
        break;
      }
    }
  }
  return problems.result();
}

}  // namespace hyfreedp::runner
