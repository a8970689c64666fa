#include "harness/cli/run/figure_doubts.h"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <tuple>

#include "harness/runner/execute/first_runs.h"
#include "plots/doubts.h"

namespace hyfreedp::cli {
namespace {

std::vector<plots::Run> first_runs_of(const runner::Spec& spec,
                                      const std::vector<runner::PlannedStudy>& studies) {
  const auto groups = plots::row_groups(spec.content);
  std::set<std::tuple<std::string, std::string, std::optional<double>>> seen;
  std::vector<plots::Run> first;
  for (const auto& study : studies) {
    const auto& cell = study.cell;
    // Seeds of a cell have the same settings.
    if (!seen.insert({cell.panel, cell.row, cell.epsilon}).second) continue;
    const auto wanted = runner::first_runs(study);
    if (!wanted) continue;
    const auto group = groups.find({cell.panel, cell.row});
    for (const auto& config : *wanted) {
      plots::Run run;
      run.panel = cell.panel;
      run.row = cell.row;
      run.group = group == groups.end() ? cell.row : group->second;
      run.epsilon = cell.epsilon;
      run.seed = cell.seed;
      run.config = config.to_json();
      first.push_back(std::move(run));
    }
  }
  return first;
}

}  // namespace

std::vector<std::string> figure_doubts(const runner::Spec& spec,
                                       const std::vector<runner::PlannedStudy>& studies) {
  if (!spec.content.figures) return {};
  const auto first = first_runs_of(spec, studies);
  std::vector<std::string> sentences;
  for (const auto& request : results::figure_requests(*spec.content.figures)) {
    for (const auto& doubt : plots::doubts_of(request, first)) {
      sentences.push_back(fmt::format("{}: the figure '{}' may stay empty: {}{}", spec.path, request.name,
                                      doubt, doubt.ends_with('.') || doubt.ends_with('?') ? "" : "."));
    }
  }
  return sentences;
}

}  // namespace hyfreedp::cli
