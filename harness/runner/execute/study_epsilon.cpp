#include "harness/runner/execute/study_epsilon.h"

#include <utility>

namespace hyfreedp::runner {

Result<void> StudyPricer::price(results::StudyRecord& study, const trial::Composition& composition,
                                const Executed& executed) {
  if (!study.epsilon_target) return {};
  const auto events = trial::compose(composition, executed, study.trials);
  if (!events) return events.error();
  auto total = epsilon(*events, study.delta);
  if (!total) return total.error();
  study.total = std::move(*total);
  if (study.reported_trial.empty()) return {};
  auto of_training = executed(study.reported_trial);
  if (!of_training) return of_training.error();
  auto training = epsilon({.events = std::move(*of_training)}, study.delta);
  if (!training) return training.error();
  study.training = std::move(*training);
  return {};
}

Result<std::optional<accounting::ReportedEpsilon>> StudyPricer::epsilon(const accounting::Events& events,
                                                                        double delta) {
  if (events.events.empty()) return std::optional<accounting::ReportedEpsilon>{};
  const std::string request = canonical_json(json::array{accounting::events_to_json(events), number(delta)});
  auto found = known_.find(request);
  if (found == known_.end()) {
    auto answer = accounting::report_epsilon(events, delta);
    if (!answer) return answer.error();
    found = known_.emplace(request, std::move(*answer)).first;
  }
  return std::optional<accounting::ReportedEpsilon>(found->second);
}

}  // namespace hyfreedp::runner
