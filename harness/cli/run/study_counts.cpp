#include "harness/cli/run/study_counts.h"

#include <fmt/format.h>
#include <map>

#include "harness/base/text.h"
#include "results/store/states.h"

namespace hyfreedp::cli {

std::string study_counts(const std::vector<results::StudyRecord>& studies) {
  std::map<results::StudyState, std::size_t> states;
  std::map<std::string, std::size_t> kinds;
  std::size_t not_needed = 0;
  for (const auto& study : studies) {
    if (results::is_not_needed(study)) {
      ++not_needed;
      continue;
    }
    ++states[study.state];
    if (study.state == results::StudyState::failed) ++kinds[study.failure_kind];
  }
  auto text = fmt::format("{}: {} concluded, {} open, {} failed",
                          counted(static_cast<std::int64_t>(studies.size()), "study", "studies"),
                          states[results::StudyState::concluded], states[results::StudyState::open],
                          states[results::StudyState::failed]);
  if (not_needed > 0) text += fmt::format(", {} not needed", not_needed);
  const char* separator = " (";
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} {}", separator, count, kind);
    separator = ", ";
  }
  return kinds.empty() ? text : text + ")";
}

}  // namespace hyfreedp::cli
