#include "baselines/baseline.h"

#include <fmt/format.h>
#include <map>
#include <utility>

#include "harness/base/text.h"
#include "harness/random/stream.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::baselines {
namespace {

// Events on the training split become events on its part.
void tell_part(const std::string& part, std::vector<accounting::Event>& events) {
  if (part.empty()) return;
  for (auto& event : events) {
    if (event.split.empty() || event.split == trial::kTrainSplit) {
      event.split = fmt::format("{}-{}", trial::kTrainSplit, part);
    }
  }
}

Result<void> tell_part(const Composition& composition, const std::string& id,
                       std::vector<accounting::Event>& events) {
  if (composition.parts.empty()) return {};
  const auto part = composition.parts.find(id);
  if (part == composition.parts.end()) {
    return error("a composition over parts of the data does not say which part the run " + id + " had");
  }
  tell_part(part->second, events);
  return {};
}

}  // namespace

std::vector<accounting::Event> selection_by_split(const accounting::Selection& selection) {
  auto empty = selection;
  empty.base.clear();
  std::map<std::string, accounting::Selection> by_split;
  for (const auto& event : selection.base) {
    auto& mine = by_split.try_emplace(event.split, empty).first->second;
    mine.base.push_back(event);
    mine.base.back().split.clear();
  }
  std::vector<accounting::Event> events;
  events.reserve(by_split.size());
  for (auto& [split, mine] : by_split) events.push_back({std::move(mine), split});
  return events;
}

json::object Composition::to_json() const {
  json::object object{{"rule", name_of(rule)}, {"trials", json::value_from(trials)}};
  if (!parts.empty()) object["parts"] = json::value_from(parts);
  if (!not_begun.empty()) {
    json::array list;
    for (const auto& one : not_begun) {
      json::object entry{{"events", accounting::events_to_json({.events = one.events})}, {"part", one.part}};
      if (!one.trial.empty()) entry["trial"] = one.trial;
      if (!one.attempt.empty()) entry["attempt"] = one.attempt;
      list.push_back(std::move(entry));
    }
    object["not_begun"] = std::move(list);
  }
  if (rule == Rule::selection && (!trials.empty() || !selection.base.empty() || unlisted)) {
    json::object inner{
        {"distribution", name_of(selection.distribution)}, {"eta", selection.eta}, {"mean", selection.mean}};
    if (trials.empty()) inner["base"] = accounting::events_to_json({.events = selection.base});
    if (release) inner["release"] = *release;
    if (!booking.empty()) inner["booking"] = booking;
    if (!attempts.empty()) inner["attempts"] = attempts;
    object["selection"] = std::move(inner);
    if (drew_no_run) object["drew_no_run"] = true;
    if (unlisted) {
      object["unlisted"] =
          json::object{{"executed", accounting::events_to_json({.events = unlisted->executed})},
                       {"planned", accounting::events_to_json({.events = unlisted->planned})}};
    }
  }
  return object;
}

Result<Composition> Composition::from_json(const json::object& object, const std::string& where) {
  Composition composition;
  const auto rule_name = get_string(object, "rule", where);
  if (!rule_name) return rule_name.error();
  const auto rule = enum_from<Rule>(*rule_name, where + ".rule");
  if (!rule) return rule.error();
  composition.rule = *rule;
  const auto* trials = object.if_contains("trials");
  auto ids = hyfreedp::from_json<std::vector<std::string>>(trials == nullptr ? json::value() : *trials,
                                                           where + ".trials");
  if (!ids) return ids.error();
  composition.trials = std::move(*ids);
  if (const auto* parts = object.if_contains("parts")) {
    auto by_trial = hyfreedp::from_json<std::map<std::string, std::string>>(*parts, where + ".parts");
    if (!by_trial) return by_trial.error();
    composition.parts = std::move(*by_trial);
  }
  if (const auto* list = object.if_contains("not_begun")) {
    if (!list->is_array()) return error(where + ": 'not_begun' must be a list");
    for (const auto& one : list->get_array()) {
      const auto* of_one = one.if_object();
      const auto* described = of_one != nullptr ? of_one->if_contains("events") : nullptr;
      if (described == nullptr) return error(where + ": each of 'not_begun' needs 'events'");
      auto events = accounting::events_from_json(*described, where + ".not_begun");
      if (!events) return events.error();
      composition.not_begun.push_back({.events = std::move(events->events),
                                       .part = string_or(*of_one, "part", ""),
                                       .trial = string_or(*of_one, "trial", ""),
                                       .attempt = string_or(*of_one, "attempt", "")});
    }
  }
  if (*rule != Rule::selection) return composition;
  const auto* selection = object.if_contains("selection");
  if (selection == nullptr || !selection->is_object()) {
    return error(where + ": rule selection needs an object 'selection'");
  }
  const std::string inner = where + ".selection";
  const auto name = get_string(selection->get_object(), "distribution", inner);
  const auto eta = get_double(selection->get_object(), "eta", inner);
  const auto mean = get_double(selection->get_object(), "mean", inner);
  if (!name) return name.error();
  if (!eta) return eta.error();
  if (!mean) return mean.error();
  const auto distribution = enum_from<accounting::Selection::Distribution>(*name, inner + ".distribution");
  if (!distribution) return distribution.error();
  composition.selection = {.distribution = *distribution, .eta = *eta, .mean = *mean, .base = {}};
  if (const auto* base = selection->get_object().if_contains("base")) {
    auto events = accounting::events_from_json(*base, inner + ".base");
    if (!events) return events.error();
    composition.selection.base = std::move(events->events);
  }
  if (selection->get_object().contains("release")) {
    const auto release = get_int(selection->get_object(), "release", inner);
    if (!release) return release.error();
    composition.release = *release;
  }
  composition.booking = string_or(selection->get_object(), "booking", "");
  composition.attempts = string_or(selection->get_object(), "attempts", "");
  composition.drew_no_run = bool_or(object, "drew_no_run", false);
  if (const auto* unlisted = object.if_contains("unlisted")) {
    if (!unlisted->is_object()) return error(where + ": 'unlisted' must be an object");
    composition.unlisted.emplace();
    for (const auto& [key, target] : {std::pair{"executed", &composition.unlisted->executed},
                                      std::pair{"planned", &composition.unlisted->planned}}) {
      const auto* list = unlisted->get_object().if_contains(key);
      if (list == nullptr) return error(fmt::format("{}.unlisted needs '{}'", where, key));
      auto events = accounting::events_from_json(*list, fmt::format("{}.unlisted.{}", where, key));
      if (!events) return events.error();
      *target = std::move(events->events);
    }
  }
  return composition;
}

Result<accounting::Events> compose(
    const Composition& composition,
    const std::function<Result<std::vector<accounting::Event>>(const std::string& id)>& executed,
    std::span<const std::string> runs) {
  accounting::Events events;
  if (composition.rule == Composition::Rule::none) return events;
  if (composition.drew_no_run) {
    events.events = selection_by_split(composition.selection);
    return events;
  }
  if (composition.unlisted) {
    auto selection = composition.selection;
    selection.base = composition.unlisted->executed;
    events.events = selection_by_split(selection);
    return events;
  }
  if (composition.trials.empty() && composition.not_begun.empty()) {
    return error("a composition with a cost must list at least one trial");
  }
  if (composition.rule == Composition::Rule::selection) {
    trial::EventTally dearest;
    const std::span<const std::string> listed = composition.trials;
    for (const auto& ids : {listed, runs}) {
      for (const auto& id : ids) {
        const auto of_run = executed(id);
        if (!of_run) return of_run.error();
        dearest.raise_to(trial::EventTally(*of_run));
      }
    }
    auto selection = composition.selection;
    selection.base = dearest.events();
    events.events = selection_by_split(selection);
    return events;
  }
  for (const auto& id : composition.trials) {
    auto of_trial = executed(id);
    if (!of_trial) return of_trial.error();
    if (auto told = tell_part(composition, id, *of_trial); !told) return told.error();
    events.events.insert(events.events.end(), of_trial->begin(), of_trial->end());
    if (composition.rule == Composition::Rule::trial) return events;
  }
  for (auto rest : composition.not_begun) {
    tell_part(rest.part, rest.events);
    events.events.insert(events.events.end(), rest.events.begin(), rest.events.end());
  }
  return events;
}

std::string to_string(Label label) {
  switch (label) {
    case Label::end_to_end:
      return "end-to-end DP";
    case Label::oracle:
      return "oracle";
    case Label::simulated:
      return "simulated";
    case Label::non_private:
      return "non-private";
  }
  return "?";
}

const Baseline& reading_of(const Baseline& entry, const json::object& options) {
  return entry.reading ? entry.reading(options) : entry;
}

Result<std::string> noise_accountant(const Baseline& method, const json::object& options,
                                     const std::string& asked) {
  const auto own = read_options<AccountantOption>(options).accountant;
  const auto wanted = own == "auto" ? asked : own;
  const auto& reading = reading_of(method, options);
  const auto why = reading.needs_rdp ? reading.needs_rdp(options) : "";
  if (why.empty()) return wanted.empty() ? "pld" : wanted;
  if (wanted != "pld") return std::string("rdp");
  return error(
      fmt::format("'accountant: pld' cannot set the noise of {} here, because {}; say 'accountant: rdp', or "
                  "leave it out: "
                  "RDP then sets the noise of this row, and PLD that of the others",
                  method.name, why));
}

Result<const Baseline*> find_baseline(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& baseline : registry()) {
    if (baseline.name == name) return &baseline;
    names.push_back(baseline.name);
  }
  return error("unknown method '" + name + "'." + did_you_mean(name, names) +
               " Known methods: " + join(names, ", ") + ".");
}

double draw(const Cell& cell, const std::string& what, std::int64_t index) {
  const json::array address{"baseline draw",
                            cell.draw_secret.value_or(cell.base.noise_seed.value_or("public draws")),
                            cell.panel,
                            cell.row,
                            cell.epsilon ? number(*cell.epsilon) : json::value("inf"),
                            cell.seed,
                            what};
  double uniform = 0;
  random::fill_uniforms(random::key_from_seed(canonical_json(address)),
                        {.purpose = random::Purpose::selection}, static_cast<std::uint64_t>(index),
                        {&uniform, 1});
  return uniform;
}

}  // namespace hyfreedp::baselines
