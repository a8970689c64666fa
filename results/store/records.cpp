#include "results/store/records.h"

namespace hyfreedp::results {
Result<spec::Spec> spec_of(const SpecRecord& record) {
  auto read = spec::read_spec(record.resolved, "the stored spec '" + record.name + "'");
  if (read && read->title.empty()) read->title = record.name;
  return read;
}

std::vector<trial::Build> builds_of(const TrialRecord& trial) {
  if (!trial.builds.empty() || trial.fingerprint.empty()) return trial.builds;
  return {trial::build_of(trial.fingerprint)};
}

json::array to_json(const std::vector<trial::ChargedAttempt>& attempts) {
  json::array array;
  for (const auto& attempt : attempts) {
    json::object object{{"name", attempt.name},
                        {"executed", accounting::events_to_json({.events = attempt.events})}};
    if (!attempt.rest.empty()) object["rest"] = accounting::events_to_json({.events = attempt.rest});
    array.push_back(std::move(object));
  }
  return array;
}

Result<std::vector<trial::ChargedAttempt>> charged_from(const json::value& value, const std::string& where) {
  if (!value.is_array()) return error(where + " must be a list");
  std::vector<trial::ChargedAttempt> attempts;
  for (const auto& element : value.get_array()) {
    const auto* object = element.if_object();
    const auto* executed = object != nullptr ? object->if_contains("executed") : nullptr;
    if (executed == nullptr) return error(where + ": each attempt needs 'executed'");
    auto events = accounting::events_from_json(*executed, where);
    if (!events) return events.error();
    trial::ChargedAttempt attempt{string_or(*object, "name", ""), std::move(events->events)};
    if (const auto* later = object->if_contains("rest")) {
      auto rest = accounting::events_from_json(*later, where);
      if (!rest) return rest.error();
      attempt.rest = std::move(rest->events);
    }
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

json::object to_json(const TrialRecord& trial) {
  return {{"id", trial.id},
          {"config", trial.config},
          {"state", name_of(trial.state)},
          {"failure_kind", trial.failure_kind},
          {"failure_message", trial.failure_message},
          {"notes", as_json(trial.notes)},
          {"counts", as_json(trial.counts)},
          {"fingerprint", trial.fingerprint},
          {"builds", as_json(trial.builds)},
          {"attempts", trial.attempts},
          {"seconds", number(trial.seconds)},
          {"peak_bytes", trial.peak_bytes},
          {"device_peak_bytes", trial.device_peak_bytes},
          {"events", accounting::events_to_json({.events = trial.events})}};
}

// Older programs wrote neither accountant nor note.
Result<accounting::ReportedEpsilon> reported_epsilon_from(const json::value& value,
                                                          const std::string& where) {
  if (!value.is_object()) return error(where + " must be an object");
  auto object = value.get_object();
  for (const char* key : {"accountant", "note"}) object.emplace(key, "");
  return from_json<accounting::ReportedEpsilon>(object, where);
}

}  // namespace hyfreedp::results
