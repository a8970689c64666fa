#include "harness/trial/composition.h"

#include <fmt/format.h>
#include <utility>

#include "harness/base/text.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::trial {
namespace {

using accounting::Event;
using Rule = Composition::Rule;

Result<void> tell_part_of(const Composition& composition, const std::string& id, std::vector<Event>& events) {
  if (composition.parts.empty()) return {};
  const auto part = composition.parts.find(id);
  if (part == composition.parts.end()) {
    return error("a composition over parts of the data does not say which part the run " + id + " had");
  }
  tell_part(part->second, events);
  return {};
}

json::value written(const std::vector<Event>& events) {
  return accounting::events_to_json({.events = events});
}

Result<std::vector<Event>> events_at(const json::object& object, const char* key, const std::string& where) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return error(fmt::format("{} needs '{}'", where, key));
  auto events = accounting::events_from_json(*value, fmt::format("{}.{}", where, key));
  if (!events) return events.error();
  return std::move(events->events);
}

Result<void> read_selection(const json::object& object, const std::string& where, Composition& composition) {
  const auto name = get_string(object, "distribution", where);
  const auto eta = get_double(object, "eta", where);
  const auto mean = get_double(object, "mean", where);
  if (!name) return name.error();
  if (!eta) return eta.error();
  if (!mean) return mean.error();
  const auto distribution = enum_from<accounting::Selection::Distribution>(*name, where + ".distribution");
  if (!distribution) return distribution.error();
  composition.selection = {.distribution = *distribution, .eta = *eta, .mean = *mean, .base = {}};
  if (object.contains("base")) {
    auto base = events_at(object, "base", where);
    if (!base) return base.error();
    composition.selection->base = std::move(*base);
  }
  if (object.contains("release")) {
    const auto release = get_int(object, "release", where);
    if (!release) return release.error();
    composition.release = *release;
  }
  composition.booking = string_or(object, "booking", "");
  composition.attempts = string_or(object, "attempts", "");
  return {};
}

// The data are written beside the events, so that what is exported, without both, does not tell
// whether a row was rebuilt. Older records of cancelled rows have them outside, too.
Result<void> read_unlisted(const json::object& object, const std::string& where, Composition& composition) {
  auto executed = events_at(object, "executed", where);
  if (!executed) return executed.error();
  auto planned = events_at(object, "planned", where);
  if (!planned) return planned.error();
  composition.unlisted = Composition::Unlisted{std::move(*executed), std::move(*planned)};
  if (const auto* dataset = object.if_contains("dataset"); dataset != nullptr && !composition.dataset) {
    auto named = hyfreedp::from_json<Named>(*dataset, where + ".dataset");
    if (!named) return named.error();
    composition.dataset = std::move(*named);
  }
  return {};
}

Result<void> read_not_begun(const json::value& value, const std::string& where, Composition& composition) {
  if (!value.is_array()) return error(where + ": 'not_begun' must be a list");
  for (const auto& one : value.get_array()) {
    if (!one.is_object()) return error(where + ": each of 'not_begun' needs 'events'");
    const auto& object = one.get_object();
    auto events = events_at(object, "events", where + ".not_begun");
    if (!events) return events.error();
    composition.not_begun.push_back({.events = std::move(*events),
                                     .part = string_or(object, "part", ""),
                                     .trial = string_or(object, "trial", ""),
                                     .attempt = string_or(object, "attempt", "")});
  }
  return {};
}

}  // namespace

json::object Composition::to_json() const {
  if (!rule) return {};
  json::object object{{"rule", name_of(*rule)}, {"trials", json::value_from(trials)}};
  if (!parts.empty()) object["parts"] = json::value_from(parts);
  if (!not_begun.empty()) {
    json::array list;
    for (const auto& one : not_begun) {
      json::object entry{{"events", written(one.events)}, {"part", one.part}};
      if (!one.trial.empty()) entry["trial"] = one.trial;
      if (!one.attempt.empty()) entry["attempt"] = one.attempt;
      list.push_back(std::move(entry));
    }
    object["not_begun"] = std::move(list);
  }
  if (selection && is_selection()) {
    json::object inner{{"distribution", name_of(selection->distribution)},
                       {"eta", selection->eta},
                       {"mean", selection->mean}};
    if (trials.empty() && !selection->base.empty()) inner["base"] = written(selection->base);
    if (release) inner["release"] = *release;
    if (!booking.empty()) inner["booking"] = booking;
    if (!attempts.empty()) inner["attempts"] = attempts;
    object["selection"] = std::move(inner);
    if (drew_no_run) object["drew_no_run"] = true;
    if (unlisted) {
      json::object costs{{"executed", written(unlisted->executed)}, {"planned", written(unlisted->planned)}};
      if (dataset) costs["dataset"] = as_json(*dataset);
      object["unlisted"] = std::move(costs);
    }
  }
  if (dataset && !object.contains("unlisted")) object["dataset"] = as_json(*dataset);
  if (booked_ahead) object["booked_ahead"] = true;
  if (seed) object["seed"] = *seed;
  return object;
}

Result<Composition> Composition::from_json(const json::object& object, const std::string& where) {
  Composition composition;
  if (object.empty()) return composition;
  const auto rule_name = get_string(object, "rule", where);
  if (!rule_name) return rule_name.error();
  const auto rule = enum_from<Rule>(*rule_name, where + ".rule");
  if (!rule) return rule.error();
  composition.rule = *rule;
  if (const auto* trials = object.if_contains("trials")) {
    auto ids = hyfreedp::from_json<std::vector<std::string>>(*trials, where + ".trials");
    if (!ids) return ids.error();
    composition.trials = std::move(*ids);
  } else if (*rule == Rule::trial || *rule == Rule::sum) {
    return error(where + ": 'trials' is missing");
  }
  if (const auto* parts = object.if_contains("parts")) {
    auto by_trial = hyfreedp::from_json<std::map<std::string, std::string>>(*parts, where + ".parts");
    if (!by_trial) return by_trial.error();
    composition.parts = std::move(*by_trial);
  }
  if (const auto* list = object.if_contains("not_begun")) {
    if (auto read = read_not_begun(*list, where, composition); !read) return read.error();
  }
  if (const auto* dataset = object.if_contains("dataset")) {
    auto named = hyfreedp::from_json<Named>(*dataset, where + ".dataset");
    if (!named) return named.error();
    composition.dataset = std::move(*named);
  }
  composition.booked_ahead = bool_or(object, "booked_ahead", false);
  if (object.contains("seed")) {
    const auto seed = get_int(object, "seed", where);
    if (!seed) return seed.error();
    composition.seed = *seed;
  }
  const auto* selection = object.if_contains("selection");
  if (*rule != Rule::selection || selection == nullptr) return composition;
  if (!selection->is_object()) return error(where + ": 'selection' must be an object");
  if (auto read = read_selection(selection->get_object(), where + ".selection", composition); !read)
    return read.error();
  composition.drew_no_run = bool_or(object, "drew_no_run", false);
  if (const auto* unlisted = object.if_contains("unlisted")) {
    if (!unlisted->is_object()) return error(where + ": 'unlisted' must be an object");
    if (auto read = read_unlisted(unlisted->get_object(), where + ".unlisted", composition); !read)
      return read.error();
  }
  return composition;
}

void tell_part(const std::string& part, std::vector<Event>& events) {
  if (part.empty()) return;
  for (auto& event : events) {
    if (event.split.empty() || event.split == kTrainSplit)
      event.split = fmt::format("{}-{}", kTrainSplit, part);
  }
}

std::string shows_run_count_sql(const std::string& composition) {
  std::vector<std::string> rules;
  for (const auto& name : names_of<Rule>()) {
    if (Composition{.rule = enum_from<Rule>(name, "rule").value()}.shows_run_count())
      rules.push_back(fmt::format("'{}'", name));
  }
  return fmt::format("json_extract({}, '$.rule') IN ({})", composition, join(rules, ", "));
}

EventTally booked_of(const Composition& composition) {
  EventTally booked;
  for (const auto& one : composition.not_begun) booked.add(one.events);
  return booked;
}

std::vector<Event> selection_by_split(const accounting::Selection& selection) {
  auto empty = selection;
  empty.base.clear();
  std::map<std::string, accounting::Selection> by_split;
  for (const auto& event : selection.base) {
    auto& mine = by_split.try_emplace(event.split, empty).first->second;
    mine.base.push_back(event);
    mine.base.back().split.clear();
  }
  std::vector<Event> events;
  events.reserve(by_split.size());
  for (auto& [split, mine] : by_split) events.push_back({std::move(mine), split});
  return events;
}

Result<accounting::Events> compose(
    const Composition& composition,
    const std::function<Result<std::vector<Event>>(const std::string& id)>& executed,
    std::span<const std::string> runs) {
  accounting::Events events;
  if (!composition.rule) return error("a composition needs a rule");
  if (composition.rule == Rule::none) return events;
  if (composition.is_selection() && !composition.selection)
    return error("a composition of the rule selection needs 'selection'");
  if (composition.drew_no_run || composition.unlisted) {
    auto selection = *composition.selection;
    if (!composition.drew_no_run) selection.base = composition.unlisted->executed;
    events.events = selection_by_split(selection);
    return events;
  }
  if (composition.trials.empty() && composition.not_begun.empty()) {
    return error("a composition with a cost must list at least one trial");
  }
  if (composition.is_selection()) {
    EventTally dearest;
    const std::span<const std::string> listed = composition.trials;
    for (const auto& ids : {listed, runs}) {
      for (const auto& id : ids) {
        const auto of_run = executed(id);
        if (!of_run) return of_run.error();
        dearest.raise_to(EventTally(*of_run));
      }
    }
    auto selection = *composition.selection;
    selection.base = dearest.events();
    events.events = selection_by_split(selection);
    return events;
  }
  for (const auto& id : composition.trials) {
    auto of_trial = executed(id);
    if (!of_trial) return of_trial.error();
    if (auto told = tell_part_of(composition, id, *of_trial); !told) return told.error();
    events.events.insert(events.events.end(), of_trial->begin(), of_trial->end());
    if (composition.rule == Rule::trial) return events;
  }
  for (auto rest : composition.not_begun) {
    tell_part(rest.part, rest.events);
    events.events.insert(events.events.end(), rest.events.begin(), rest.events.end());
  }
  return events;
}

}  // namespace hyfreedp::trial
