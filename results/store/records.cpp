#include "results/store/records.h"

#include "results/store/states.h"

namespace hyfreedp::results {
namespace {

json::value optional_number(const std::optional<double>& value) {
  return value ? number(*value) : json::value(nullptr);
}

json::value optional_epsilon(const std::optional<accounting::ReportedEpsilon>& epsilon) {
  return epsilon ? json::value(to_json(*epsilon)) : json::value(nullptr);
}

Result<std::optional<double>> optional_double(const json::object& object, const char* key,
                                              const std::string& where) {
  const auto* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return std::optional<double>{};
  auto value = to_double(*found, where + ": '" + key + "'");
  if (!value) return value.error();
  return std::optional<double>(*value);
}

Result<const json::object*> object_of(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + " must be an object");
  return &value.get_object();
}

}  // namespace

Result<spec::Spec> spec_of(const SpecRecord& record) {
  auto read = spec::read_spec(record.resolved, "the stored spec '" + record.name + "'");
  if (read && read->title.empty()) read->title = record.name;
  return read;
}

std::vector<trial::Build> builds_of(const TrialRecord& trial) {
  if (!trial.builds.empty() || trial.fingerprint.empty()) return trial.builds;
  return {trial::build_of(trial.fingerprint)};
}

json::array to_json(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

json::array to_json(const std::vector<trial::Build>& builds) {
  json::array array;
  for (const auto& build : builds) array.emplace_back(build.to_json());
  return array;
}

json::array to_json(const std::vector<trial::ChargedAttempt>& attempts) {
  json::array array;
  for (const auto& attempt : attempts) {
    array.push_back(json::object{{"name", attempt.name},
                                 {"executed", accounting::events_to_json({.events = attempt.events})}});
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
    attempts.push_back({string_or(*object, "name", ""), std::move(events->events)});
  }
  return attempts;
}

json::object to_json(const std::map<std::string, std::int64_t>& counts) {
  json::object object;
  for (const auto& [name, count] : counts) object[name] = count;
  return object;
}

json::object to_json(const std::map<std::string, double>& scalars) {
  json::object object;
  for (const auto& [name, value] : scalars) object[name] = number(value);
  return object;
}

json::object to_json(const accounting::ReportedEpsilon& epsilon) {
  return {{"epsilon", number(epsilon.epsilon)},  {"epsilon_lower", number(epsilon.epsilon_lower)},
          {"delta", number(epsilon.delta)},      {"pld", optional_number(epsilon.pld)},
          {"rdp", optional_number(epsilon.rdp)}, {"rdp_order", optional_number(epsilon.rdp_order)},
          {"accountant", epsilon.accountant},    {"note", epsilon.note}};
}

json::object to_json(const trial::MetricRecord& metric) {
  return {{"step", metric.step},
          {"split", metric.split},
          {"name", metric.name},
          {"value", number(metric.value)},
          {"visibility", trial::to_string(metric.visibility)}};
}

json::object to_json(const TrialRecord& trial) {
  return {{"id", trial.id},
          {"config", trial.config},
          {"state", trial::to_string(trial.state)},
          {"failure_kind", trial.failure_kind},
          {"failure_message", trial.failure_message},
          {"notes", to_json(trial.notes)},
          {"counts", to_json(trial.counts)},
          {"fingerprint", trial.fingerprint},
          {"builds", to_json(trial.builds)},
          {"attempts", trial.attempts},
          {"seconds", number(trial.seconds)},
          {"events", accounting::events_to_json({.events = trial.events})}};
}

json::object to_json(const StudyRecord& study) {
  return {{"id", study.id},
          {"spec", study.spec},
          {"panel", study.panel},
          {"row", study.row},
          {"method", study.method},
          {"epsilon_target", optional_number(study.epsilon_target)},
          {"delta", number(study.delta)},
          {"seed", study.seed},
          {"state", to_string(study.state)},
          {"reported_trial", study.reported_trial},
          {"composition", study.composition},
          {"label", study.label},
          {"flags", to_json(study.flags)},
          {"footnotes", to_json(study.footnotes)},
          {"claimed_epsilon", optional_number(study.claimed_epsilon)},
          {"total", optional_epsilon(study.total)},
          {"training", optional_epsilon(study.training)},
          {"failure_kind", study.failure_kind},
          {"failure_message", study.failure_message},
          {"trials", to_json(study.trials)},
          {"seconds", number(study.seconds)}};
}

Result<accounting::ReportedEpsilon> reported_epsilon_from(const json::value& value,
                                                          const std::string& where) {
  auto object = object_of(value, where);
  if (!object) return object.error();
  accounting::ReportedEpsilon epsilon;
  for (const auto& [key, target] :
       {std::pair{"epsilon", &epsilon.epsilon}, std::pair{"epsilon_lower", &epsilon.epsilon_lower},
        std::pair{"delta", &epsilon.delta}}) {
    auto number_read = get_double(**object, key, where);
    if (!number_read) return number_read.error();
    *target = *number_read;
  }
  for (const auto& [key, target] : {std::pair{"pld", &epsilon.pld}, std::pair{"rdp", &epsilon.rdp},
                                    std::pair{"rdp_order", &epsilon.rdp_order}}) {
    auto number_read = optional_double(**object, key, where);
    if (!number_read) return number_read.error();
    *target = *number_read;
  }
  epsilon.accountant = string_or(**object, "accountant", "");
  epsilon.note = string_or(**object, "note", "");
  return epsilon;
}

Result<StudyRecord> study_from(const json::value& value, const std::string& where) {
  const auto object = object_of(value, where);
  if (!object) return object.error();
  StudyRecord study;
  for (const auto& [key, target] :
       {std::pair{"id", &study.id}, std::pair{"spec", &study.spec}, std::pair{"panel", &study.panel},
        std::pair{"row", &study.row}, std::pair{"method", &study.method},
        std::pair{"reported_trial", &study.reported_trial}, std::pair{"label", &study.label},
        std::pair{"failure_kind", &study.failure_kind},
        std::pair{"failure_message", &study.failure_message}}) {
    auto text = get_string(**object, key, where);
    if (!text) return text.error();
    *target = std::move(*text);
  }
  for (const auto& [key, target] :
       {std::pair{"flags", &study.flags}, std::pair{"footnotes", &study.footnotes},
        std::pair{"trials", &study.trials}}) {
    const auto* found = (**object).if_contains(key);
    auto texts = texts_from(found != nullptr ? *found : json::value(nullptr), where + ": '" + key + "'");
    if (!texts) return texts.error();
    *target = std::move(*texts);
  }
  for (const auto& [key, target] : {std::pair{"delta", &study.delta}, std::pair{"seconds", &study.seconds}}) {
    const auto number_read = get_double(**object, key, where);
    if (!number_read) return number_read.error();
    *target = *number_read;
  }
  for (const auto& [key, target] : {std::pair{"epsilon_target", &study.epsilon_target},
                                    std::pair{"claimed_epsilon", &study.claimed_epsilon}}) {
    const auto number_read = optional_double(**object, key, where);
    if (!number_read) return number_read.error();
    *target = *number_read;
  }
  for (const auto& [key, target] :
       {std::pair{"total", &study.total}, std::pair{"training", &study.training}}) {
    const auto* found = (**object).if_contains(key);
    if (found == nullptr || found->is_null()) continue;
    auto epsilon = reported_epsilon_from(*found, where + ": '" + key + "'");
    if (!epsilon) return epsilon.error();
    *target = std::move(*epsilon);
  }
  const auto seed = get_int(**object, "seed", where);
  if (!seed) return seed.error();
  study.seed = *seed;
  const auto state_name = get_string(**object, "state", where);
  if (!state_name) return state_name.error();
  const auto state = study_state_from(*state_name);
  if (!state) return state.error();
  study.state = *state;
  const auto* composition = (**object).if_contains("composition");
  if (composition == nullptr || !composition->is_object()) {
    return error(where + ": 'composition' must be an object");
  }
  study.composition = composition->get_object();
  return study;
}

Result<std::vector<std::string>> texts_from(const json::value& value, const std::string& where) {
  if (!value.is_array()) return error(where + " must be a list");
  std::vector<std::string> texts;
  for (const auto& element : value.get_array()) {
    if (!element.is_string()) return error(where + " must be a list of texts");
    texts.emplace_back(element.get_string());
  }
  return texts;
}

Result<std::map<std::string, std::int64_t>> counts_from(const json::value& value, const std::string& where) {
  auto object = object_of(value, where);
  if (!object) return object.error();
  std::map<std::string, std::int64_t> counts;
  for (const auto& member : **object) {
    auto count = get_int(**object, member.key(), where);
    if (!count) return count.error();
    counts[std::string(member.key())] = *count;
  }
  return counts;
}

Result<std::map<std::string, double>> scalars_from(const json::value& value, const std::string& where) {
  auto object = object_of(value, where);
  if (!object) return object.error();
  std::map<std::string, double> scalars;
  for (const auto& member : **object) {
    auto scalar = to_double(member.value(), where);
    if (!scalar) return scalar.error();
    scalars[std::string(member.key())] = *scalar;
  }
  return scalars;
}

}  // namespace hyfreedp::results
