#include "harness/trial/run_records.h"

namespace hyfreedp::trial {

std::vector<accounting::Event> events_of(const std::vector<ChargedAttempt>& attempts) {
  std::vector<accounting::Event> events;
  for (const auto& attempt : attempts) {
    events.insert(events.end(), attempt.events.begin(), attempt.events.end());
  }
  return events;
}

std::string to_string(Visibility visibility) {
  switch (visibility) {
    case Visibility::released:
      return "released";
    case Visibility::test:
      return "test";
    case Visibility::confidential:
      break;
  }
  return "confidential";
}

Result<Visibility> visibility_from(const std::string& name) {
  for (const auto visibility : {Visibility::released, Visibility::test, Visibility::confidential}) {
    if (to_string(visibility) == name) return visibility;
  }
  return error("unknown visibility '" + name + "'");
}

std::string to_string(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::finished:
      return "finished";
    case TrialState::failed:
      break;
  }
  return "failed";
}

}  // namespace hyfreedp::trial
