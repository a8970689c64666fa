#include "harness/trial/run_records.h"

namespace hyfreedp::trial {

std::vector<accounting::Event> events_of(const std::vector<ChargedAttempt>& attempts) {
  std::vector<accounting::Event> events;
  for (const auto& attempt : attempts) {
    events.insert(events.end(), attempt.events.begin(), attempt.events.end());
    events.insert(events.end(), attempt.rest.begin(), attempt.rest.end());
  }
  return events;
}

}  // namespace hyfreedp::trial
