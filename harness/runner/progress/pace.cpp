#include "harness/runner/progress/pace.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/runner/progress/run_price.h"
#include "results/table/table_model.h"

namespace hyfreedp::runner {
namespace {

// Times on a core at which the kinds of runs in results/archive/quick, from linear heads on full
// batches to perceptrons with probes, all have about the same ratio: 3 to 4 on the busy machine
// that made them.
constexpr double kStepSeconds = 2e-4;
constexpr double kElementSeconds = 6e-9;
constexpr double kFlopsPerSecond = 7e10;

std::string text_of(const trial::Named& named) { return named.name + canonical_json(named.options); }

Kind kind_of(const trial::TrialConfig& config) {
  const auto& privacy = config.privacy;
  return {.device = config.device,
          .task = text_of(config.dataset) + " " + text_of(config.model) + " " + config.dtype,
          .method = fmt::format("{} {} {} {} {:.3g} {} {}", config.optimizer.name, config.controller.name,
                                static_cast<int>(privacy.sampler), static_cast<int>(privacy.clipping.rule),
                                privacy.sample_rate, privacy.probe ? privacy.probe->interval : 0,
                                canonical_json(config.training.to_json()))};
}

}  // namespace

Work work_of(const trial::TrialConfig& config) {
  const auto price = price_of(config);
  double seconds = static_cast<double>(config.steps) * kStepSeconds;
  if (price) {
    seconds += price->elements * kElementSeconds;
    seconds += (price->flops + price->evaluation_flops) / kFlopsPerSecond;
  }
  return {kind_of(config), seconds};
}

void Pace::measure(const Work& work, double seconds, double share) {
  if (!(seconds > 0) || !(work.seconds > 0) || !(share > 0)) return;
  auto& sums = sums_[work.kind];
  sums.measured += seconds;
  sums.planned += share * work.seconds;
  ++runs_;
}

std::optional<double> Pace::predicted(const Work& work) const {
  if (const auto found = sums_.find(work.kind); found != sums_.end())
    return work.seconds * found->second.measured / found->second.planned;
  struct Mean {
    double logs = 0;
    double count = 0;
  } task, device;
  for (const auto& [kind, sums] : sums_) {
    if (kind.device != work.kind.device) continue;
    const double log_ratio = std::log(sums.measured / sums.planned);
    device.logs += log_ratio;
    device.count += 1;
    if (kind.task != work.kind.task) continue;
    task.logs += log_ratio;
    task.count += 1;
  }
  const auto& nearest = task.count > 0 ? task : device;
  if (!(nearest.count > 0)) return std::nullopt;
  return work.seconds * std::exp(nearest.logs / nearest.count);
}

Result<Pace> stored_pace(const results::Store& store) {
  Pace pace;
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  std::set<std::string> seen;
  for (const auto& study : *studies) {
    auto ids = study.composition.shows_run_count() ? study.trials : std::vector<std::string>{};
    ids.push_back(study.reported_trial);
    for (const auto& id : ids) {
      if (id.empty() || !seen.insert(id).second) continue;
      const auto trial = store.trial(id);
      if (!trial) return trial.error();
      if (!*trial || (**trial).state != trial::TrialState::finished) continue;
      const auto config = trial::TrialConfig::from_json((**trial).config, "trial " + id);
      if (config) pace.measure(work_of(*config), (**trial).seconds);
    }
  }
  return pace;
}

}  // namespace hyfreedp::runner
