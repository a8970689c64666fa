#include "harness/runner/executors/executor.h"

#include <limits>

#include "harness/base/version.h"

namespace hyfreedp::runner {

Job trial_job(const trial::TrialConfig& config, const TrialFiles& files) {
  const std::string id = config.id();
  Job job{.id = id,
          .request = {{"type", "run"},
                      {"trial", id},
                      {"config", config.to_json()},
                      {"journal", files.journal},
                      {"key", files.key},
                      {"commit", build_commit()}},
          .cost = 0};
  if (!files.checkpoints.empty()) {
    job.request["checkpoints"] = files.checkpoints;
    job.request["checkpoint_seconds"] = files.checkpoint_seconds;
  }
  if (!files.weights.empty()) job.request["weights"] = files.weights;
  return job;
}

Job prepare_job(const trial::Named& dataset) {
  const json::object named{{"name", dataset.name}, {"options", dataset.options}};
  return {.id = "prepare " + canonical_json(named),
          .request = {{"type", "prepare"}, {"dataset", named}},
          .cost = std::numeric_limits<double>::infinity()};
}

}  // namespace hyfreedp::runner
