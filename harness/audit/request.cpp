#include "harness/audit/request.h"

#include <fmt/format.h>

#include "harness/mechanism/releases.h"

namespace hyfreedp::audit {
namespace {

// Returns what is wrong with the request; empty: nothing.
std::string problem_of(const Request& request) {
  const auto& plan = request.plan;
  if (!plan.is_private) return "'plan' must be private";
  for (const auto& release : mechanism::releases(plan)) {
    if (mechanism::is_followed(release.purpose) || release.purpose == mechanism::kProbe) continue;
    return fmt::format("the release '{}' is not audited: only gradients and losses have a reference",
                       release.purpose);
  }
  if (plan.probe && plan.probe->points != 3) {
    return "'points' of a probe must be 3: HyFreeDP's fit takes three losses";
  }
  if (request.model != "linear" && request.model != "mlp") return "'model' must be linear or mlp";
  const auto outside = [](std::int64_t value, std::int64_t least, std::int64_t most) {
    return value < least || value > most;
  };
  if (outside(plan.population, 2, 10'000'000)) return "'population' must lie in 2 .. 1e7";
  if (outside(request.steps, 1, 10'000'000)) return "'steps' must lie in 1 .. 1e7";
  if (outside(request.runs, 1, 10'000)) return "'runs' must lie in 1 .. 10000";
  if (outside(request.workers, 1, 256)) return "'workers' must lie in 1 .. 256";
  if (outside(request.canaries, 0, 10'000) || request.canaries > plan.population) {
    return "'canaries' must lie in 0 .. 10000 and be no more than the population";
  }
  if (!(request.false_alarm > 0 && request.false_alarm < 1)) return "'false_alarm' must lie in (0, 1)";
  return "";
}

}  // namespace

Result<Request> request_from_json(const json::value& value, const std::string& where) {
  auto request = from_json<Request>(value, where);
  if (!request) return request;
  if (const auto problem = problem_of(*request); !problem.empty()) return error(where + ": " + problem);
  return request;
}

}  // namespace hyfreedp::audit
