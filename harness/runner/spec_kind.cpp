#include "harness/runner/spec_kind.h"

#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/analytic/analytic.h"
#include "harness/base/text.h"
#include "harness/models/facts.h"
#include "harness/runner/spec.h"

namespace hyfreedp::runner {

Result<json::object> read_not_runnable(const Entry& entry) {
  static const std::vector<std::string> kKeys = {"reason", "datasets", "models", "weights", "missing"};
  if (auto checked = entry.check_keys(&kKeys); !checked) return checked.error();
  const auto reason_entry = entry.find("reason");
  if (!reason_entry) return entry.wrong("needs 'reason'");
  const auto reason = reason_entry->text();
  if (!reason) return reason.error();
  json::object resolved{{"reason", *reason}};
  bool justified = false;
  std::vector<std::string> registered;
  for (const auto& key : {"datasets", "models", "weights", "missing"}) {
    const auto given = entry.find(key);
    if (!given) continue;
    const auto names = read_texts(given);
    if (!names) return names.error();
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
  if (justified) return resolved;
  if (registered.empty()) {
    return entry.wrong("must name what is not here: datasets, models, weights or missing features");
  }
  return entry.wrong(
      fmt::format("names only what is registered ({}), so it can be run", join(registered, ", ")));
}

Result<json::object> read_analytic(const Entry& entry) {
  if (auto checked = entry.check_keys(nullptr); !checked) return checked.error();
  const auto name_entry = entry.find("name");
  if (!name_entry) return entry.wrong("needs 'name'");
  const auto name = name_entry->text();
  if (!name) return name.error();
  const auto* item = analytic::find(*name);
  if (item == nullptr) {
    std::vector<std::string> known;
    for (const auto& one : analytic::registry()) known.push_back(one.name);
    return name_entry->wrong(fmt::format("is nothing that is computed here: '{}'.{} There are: {}", *name,
                                         did_you_mean(*name, known), join(known, ", ")));
  }
  const auto options = options_from(item->options, Layers({entry}), {"name"});
  if (!options) return options.error();
  return json::object{{"name", *name}, {"options", *options}};
}

}  // namespace hyfreedp::runner
