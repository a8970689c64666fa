#include "harness/runner/execute/mixed_builds.h"

#include <fmt/format.h>
#include <map>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/runner/odometer/release.h"
#include "results/store/states.h"

namespace hyfreedp::runner {

trial::Build build_of_worker(const std::string& worker) {
  json::object fingerprint{{"version", kVersion}, {"worker", trial::program_hash(worker)}};
  if (const auto commit = build_commit(); !commit.empty()) fingerprint["commit"] = commit;
  return trial::build_of(fingerprint);
}

Result<std::optional<std::string>> mixed_builds_warning(const results::Store& store, const Spec& spec,
                                                        const trial::Build& now) {
  const auto planned = plan_release(spec);
  if (!planned) return planned.error();
  std::map<trial::Build, std::size_t> studies;
  std::size_t answered = 0;
  for (const auto& study : *planned) {
    const auto record = store.study(study.id);
    if (!record) return record.error();
    if (!*record || !results::is_answered(**record)) continue;
    ++answered;
    const auto trial = store.trial((**record).reported_trial);
    if (!trial) return trial.error();
    if (!*trial) continue;
    for (const auto& build : results::builds_of(**trial)) ++studies[build];
  }
  studies.erase(now);
  if (studies.empty() || answered == planned->size()) return std::optional<std::string>();
  std::vector<std::string> parts;
  parts.reserve(studies.size());
  for (const auto& [build, count] : studies)
    parts.push_back(
        fmt::format("{} of {} studies are of another build ({})", count, planned->size(), build.text()));
  return std::optional<std::string>(
      fmt::format("{}; this one ({}) does the rest. Tables mark rows of both; another --out folder would "
                  "have all of one build.",
                  join(parts, ", "), now.text()));
}

}  // namespace hyfreedp::runner
