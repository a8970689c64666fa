#include "harness/runner/spec/spec_kind.h"

#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/analytic/analytic.h"
#include "harness/base/text.h"
#include "harness/models/facts/facts.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {

std::optional<json::object> read_not_runnable(const Entry& entry, Problems& problems) {
  static const std::vector<std::string> kKeys = {"reason", "datasets", "models", "weights", "missing"};
  const auto before = problems.added();
  if (!entry.check_keys(&kKeys, problems)) return std::nullopt;
  json::object resolved;
  if (const auto given = entry.find("reason")) {
    resolved["reason"] = problems.take(given->text()).value_or("");
  } else {
    entry.need("reason", problems);
  }
  bool justified = false;
  std::vector<std::string> registered;
  for (const auto& key : {"datasets", "models", "weights", "missing"}) {
    const auto given = entry.find(key);
    if (!given) continue;
    const auto names = problems.take(read_texts(given));
    if (!names) continue;
    for (const auto& one : *names) {
      const std::string name(one.as_string());
      const bool here = key == std::string("datasets") ? datasets::find_dataset(name).has_value()
                        : key == std::string("models") ? models::find_model(name).has_value()
                                                       : false;
      justified = justified || !here;
      if (here) registered.push_back(name);
    }
    resolved[key] = *names;
  }
  if (problems.added() > before) return std::nullopt;
  if (justified) return resolved;
  problems.add(registered.empty()
                   ? entry.wrong("must name what is not here: datasets, models, weights or missing features")
                   : entry.wrong(fmt::format("names only what is registered ({}), so it can be run",
                                             join(registered, ", ")),
                                 ""));
  return std::nullopt;
}

std::optional<json::object> read_analytic(const Entry& entry, Problems& problems) {
  if (!entry.check_keys(nullptr, problems)) return std::nullopt;
  const auto name_entry = entry.find("name");
  if (!name_entry) {
    entry.need("name", problems);
    return std::nullopt;
  }
  const auto name = problems.take(name_entry->text());
  if (!name) return std::nullopt;
  const auto* item = analytic::find(*name);
  if (item == nullptr) {
    std::vector<std::string> known;
    for (const auto& one : analytic::registry()) known.push_back(one.name);
    problems.add(name_entry->wrong(fmt::format("names no computation: '{}'.{} There are: {}", *name,
                                               did_you_mean(*name, known), join(known, ", "))));
    return std::nullopt;
  }
  const auto options = options_from(item->options, Layers({entry}), problems, {"name"});
  if (!options) return std::nullopt;
  return json::object{{"name", *name}, {"options", *options}};
}

}  // namespace hyfreedp::runner
