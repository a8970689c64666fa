#include "harness/runner/execute/spec_diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/text.h"
#include "harness/runner/odometer/release.h"
#include "results/regress/setting_changes.h"

namespace hyfreedp::runner {
namespace {

// A step of the path to an object in a spec's JSON: it takes the element `id` of the list `list`.
struct Step {
  std::string list, id;
};
using Place = std::vector<Step>;

std::string text_of(const Place& place) {
  std::vector<std::string> parts;
  for (const auto& [list, id] : place) parts.push_back(fmt::format("{}.{}", list, id));
  return join(parts, ".");
}

json::value* element_of(json::object& parent, const Step& step) {
  auto* list = parent.if_contains(step.list);
  if (list == nullptr || !list->is_array()) return nullptr;
  for (auto& element : list->get_array()) {
    if (element.is_object() && string_or(element.get_object(), "id", "") == step.id) return &element;
  }
  return nullptr;
}

// Null where the spec has no such object.
json::object* object_at(json::object& spec, const Place& place) {
  auto* object = &spec;
  for (const auto& step : place) {
    auto* element = element_of(*object, step);
    if (element == nullptr) return nullptr;
    object = &element->get_object();
  }
  return object;
}

// A difference, and how it is made in the first spec's JSON.
struct Change {
  std::string path;  // within each place
  std::string text;
  std::vector<Place> places;
  std::vector<std::function<void(json::object& spec)>> make;
};

// Each element is an object with an id of its own.
bool is_identified(const json::value& value) {
  if (!value.is_array()) return false;
  return std::ranges::all_of(value.get_array(), [](const json::value& element) {
    return element.is_object() && element.get_object().contains("id");
  });
}

std::vector<std::string> ids_of(const json::array& array) {
  std::vector<std::string> ids;
  for (const auto& element : array) ids.push_back(string_or(element.get_object(), "id", ""));
  return ids;
}

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::ranges::count(ids, id) > 0;
}

// Options belong to the choice that they are options of.
bool is_another_choice(const json::object& before, const json::object& now) {
  return before.contains("options") && string_or(before, "name", "") != string_or(now, "name", "");
}

class Walk {
 public:
  void objects(const json::object& before, const json::object& now, const Place& place,
               const std::vector<std::string>& keys) {
    for (const auto& member : now)
      value(before.if_contains(member.key()), &member.value(), place, keys, member.key());
    for (const auto& member : before) {
      if (!now.contains(member.key())) value(&member.value(), nullptr, place, keys, member.key());
    }
  }

  std::vector<Change> take() { return std::move(changes_); }

 private:
  void value(const json::value* before, const json::value* now, const Place& place,
             std::vector<std::string> keys, std::string_view key) {
    keys.emplace_back(key);
    if (before != nullptr && now != nullptr) {
      if (canonical_json(*before) == canonical_json(*now)) return;
      if (before->is_object() && now->is_object()) {
        const auto& a = before->get_object();
        const auto& b = now->get_object();
        if (!is_another_choice(a, b)) return objects(a, b, place, keys);
        return add(keys, string_or(a, "name", "") + " -> " + string_or(b, "name", ""), place, now);
      }
      const bool nests = keys.size() == 1 && is_identified(*before) && is_identified(*now);
      if (nests) return elements(before->get_array(), now->get_array(), place, keys.front());
    }
    const auto text = [](const json::value* one) { return one == nullptr ? "" : canonical_json(*one); };
    add(keys, results::value_change(text(before), text(now)), place, now);
  }

  void elements(const json::array& before, const json::array& now, const Place& place,
                const std::string& list) {
    const auto old_ids = ids_of(before), new_ids = ids_of(now);
    for (const auto& element : now) {
      const auto id = string_or(element.get_object(), "id", "");
      auto inner = place;
      inner.push_back({list, id});
      if (contains(old_ids, id)) {
        objects(before.at(static_cast<std::size_t>(std::ranges::find(old_ids, id) - old_ids.begin()))
                    .get_object(),
                element.get_object(), inner, {});
        continue;
      }
      put("", "is new", inner, [place, list, element](json::object& spec) {
        if (auto* parent = object_at(spec, place)) (*parent)[list].as_array().push_back(element);
      });
    }
    for (const auto& id : old_ids) {
      if (contains(new_ids, id)) continue;
      auto inner = place;
      inner.push_back({list, id});
      put("", "is gone", inner, [place, list, id](json::object& spec) {
        auto* parent = object_at(spec, place);
        auto* element = parent == nullptr ? nullptr : element_of(*parent, {list, id});
        if (element == nullptr) return;
        auto& array = (*parent)[list].as_array();
        array.erase(array.begin() + (element - array.data()));
      });
    }
    std::vector<std::string> kept_before = old_ids, kept_now = new_ids;
    std::erase_if(kept_before, [&](const std::string& id) { return !contains(new_ids, id); });
    std::erase_if(kept_now, [&](const std::string& id) { return !contains(old_ids, id); });
    if (kept_before == kept_now) return;
    put(list, "in another order", place, [place, list, new_ids](json::object& spec) {
      auto* parent = object_at(spec, place);
      if (parent == nullptr) return;
      auto& array = (*parent)[list].as_array();
      json::array ordered;
      for (const auto& id : new_ids) {
        if (const auto* element = element_of(*parent, {list, id})) ordered.push_back(*element);
      }
      if (ordered.size() == array.size()) array = std::move(ordered);
    });
  }

  void add(const std::vector<std::string>& keys, const std::string& text, const Place& place,
           const json::value* now) {
    const auto set = now == nullptr ? std::optional<json::value>() : std::optional(*now);
    put(join(keys, "."), text, place, [place, keys, set](json::object& spec) {
      auto* object = object_at(spec, place);
      for (std::size_t i = 0; object != nullptr && i + 1 < keys.size(); ++i) {
        auto& inner = (*object)[keys[i]];
        object = inner.if_object();
      }
      if (object == nullptr) return;
      if (set) {
        (*object)[keys.back()] = *set;
      } else {
        object->erase(keys.back());
      }
    });
  }

  void put(const std::string& path, const std::string& text, const Place& place,
           std::function<void(json::object& spec)> make) {
    auto known = std::ranges::find_if(changes_, [&](const Change& change) {
      return !path.empty() && !place.empty() && !change.places.front().empty() && change.path == path &&
             change.text == text;
    });
    if (known == changes_.end()) known = changes_.insert(changes_.end(), {path, text, {}, {}});
    known->places.push_back(place);
    known->make.push_back(std::move(make));
  }

  std::vector<Change> changes_;
};

// The studies of a plan, and their first runs.
class Start {
 public:
  static Result<Start> of(const Spec& spec) {
    auto planned = plan(spec);
    if (!planned) return planned.error();
    return of(std::move(*planned));
  }
  static Start of(std::vector<PlannedStudy> studies) {
    Start start;
    start.studies_ = std::move(studies);
    for (const auto& study : start.studies_) start.ids_.insert(study.id);
    return start;
  }

  const std::vector<PlannedStudy>& studies() const { return studies_; }
  bool has_study(const std::string& id) const { return ids_.contains(id); }
  bool has_run(const std::string& id) const {
    if (!has_runs_) {
      for (const auto& study : studies_) runs_.merge(runs_of(study));
      has_runs_ = true;
    }
    return runs_.contains(id);
  }

  // Ids of the first trials; none of a cell that is infeasible.
  static std::set<std::string> runs_of(const PlannedStudy& study) {
    std::set<std::string> ids;
    const auto wanted = study.baseline->next(study.cell, {});
    if (!wanted) return ids;
    for (const auto& config : *wanted) ids.insert(config.id());
    return ids;
  }

 private:
  std::vector<PlannedStudy> studies_;
  std::set<std::string> ids_;
  mutable std::set<std::string> runs_;  // calibrated where they are asked for
  mutable bool has_runs_ = false;
};

// True if `before` has the study, or all runs that it begins with. Draws of an unseeded spec are
// from a key that is deleted when the spec is complete, so another study draws anew.
bool is_reused(const PlannedStudy& study, const Start& before) {
  if (before.has_study(study.id)) return true;
  if (!study.cell.base.noise_seed && draws_anything({study})) return false;
  return std::ranges::all_of(Start::runs_of(study),
                             [&](const std::string& id) { return before.has_run(id); });
}

// Returns the effect of the change from `before` to `studies`, which are all of a spec or those of
// a place.
DiffEffect effect_of(const Start& before, const std::vector<PlannedStudy>& studies) {
  std::size_t kept = 0;
  bool trains = false;
  for (const auto& study : studies) {
    if (before.has_study(study.id)) {
      ++kept;
    } else {
      trains = trains || !is_reused(study, before);
    }
  }
  const bool loses = kept < before.studies().size(), gains = kept < studies.size();
  if (gains && !loses) return DiffEffect::added;
  if (gains) return trains ? DiffEffect::trained : DiffEffect::rows;
  return loses ? DiffEffect::dropped : DiffEffect::shown;
}

// The first spec with this change alone; nothing where that is no spec, as when two keys must
// change together.
std::optional<std::vector<PlannedStudy>> studies_with(const Change& change, const Spec& before) {
  auto changed = as_json(before.content);
  for (const auto& make : change.make) make(changed);
  auto content = spec::read_spec(changed, before.path);
  if (!content) return std::nullopt;
  auto spec = before;
  spec.content = std::move(*content);
  auto planned = plan(spec);
  if (!planned) return std::nullopt;
  return std::move(*planned);
}

bool is_at(const PlannedStudy& study, const Place& place) {
  return std::ranges::all_of(place, [&](const Step& step) {
    if (step.list == "panels") return study.cell.panel == step.id;
    return step.list != "rows" || study.cell.row == step.id;
  });
}

// Returns the effect of a change that alone makes no valid spec: that of all changes together on
// its places.
DiffEffect effect_at(const std::vector<Place>& places, const Start& before, const Start& now) {
  const auto there = [&](const Start& start) {
    auto studies = start.studies();
    std::erase_if(studies, [&](const PlannedStudy& study) {
      return std::ranges::none_of(places, [&](const Place& place) { return is_at(study, place); });
    });
    return studies;
  };
  return effect_of(Start::of(there(before)), there(now));
}

SpecDifference difference_of(const Change& change) {
  SpecDifference difference{.path = change.path, .change = change.text, .places = {}};
  std::vector<std::string> places;
  for (const auto& place : change.places) places.push_back(text_of(place));
  if (places.size() > 1) {
    difference.places = std::move(places);
  } else if (!places.front().empty()) {
    difference.path = change.path.empty() ? places.front() : places.front() + "." + change.path;
  }
  return difference;
}

}  // namespace

Result<SpecDiff> spec_diff(const Spec& before, const Spec& now) {
  const auto start = Start::of(before);
  if (!start) return start.error();
  const auto end = Start::of(now);
  if (!end) return end.error();
  Walk walk;
  walk.objects(as_json(before.content), as_json(now.content), {}, {});
  SpecDiff diff;
  for (const auto& change : walk.take()) {
    auto difference = difference_of(change);
    auto studies = studies_with(change, before);
    difference.effect = studies ? effect_of(*start, *studies) : effect_at(change.places, *start, *end);
    // Both plan all seeds that a comparison may need; another rule may train more of them.
    if (difference.path.find("sequential") != std::string::npos) difference.effect = DiffEffect::trained;
    diff.differences.push_back(std::move(difference));
  }
  std::set<std::string> counted_runs;
  for (const auto& study : end->studies()) {
    const bool same = start->has_study(study.id);
    ++diff.studies.all;
    diff.studies.reused += same ? 1 : 0;
    const bool reused = is_reused(study, *start);
    if (study.baseline->confidential_runs) {
      ++diff.selections.all;
      diff.selections.reused += reused ? 1 : 0;
      continue;
    }
    const bool draws = !study.cell.base.noise_seed && !same && draws_anything({study});
    for (const auto& id : Start::runs_of(study)) {
      if (!counted_runs.insert(id).second) continue;
      ++diff.runs.all;
      diff.runs.reused += !draws && start->has_run(id) ? 1 : 0;
    }
  }
  return diff;
}

}  // namespace hyfreedp::runner
