#include "harness/runner/spec/spec_kind.h"

#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/analytic/analytic.h"
#include "harness/base/text.h"
#include "harness/models/facts/facts.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {

std::optional<spec::NotRunnable> read_not_runnable(const Entry& entry, Problems& problems) {
  static const std::vector<std::string> kKeys = {"reason", "datasets", "models", "weights", "missing"};
  const auto before = problems.added();
  if (!entry.check_keys(&kKeys, problems)) return std::nullopt;
  spec::NotRunnable resolved;
  if (const auto given = entry.find("reason")) {
    resolved.reason = problems.take(given->text()).value_or("");
  } else {
    entry.need("reason", problems);
  }
  bool justified = false;
  std::vector<std::string> registered;
  const auto never = [](const std::string&) { return false; };
  const auto read = [&](const char* key, auto& member, const auto& is_here) {
    const auto given = entry.find(key);
    if (!given) return;
    member = problems.take(read_texts(given));
    if (!member) return;
    for (const auto& name : *member) {
      const bool here = is_here(name);
      justified = justified || !here;
      if (here) registered.push_back(name);
    }
  };
  read("datasets", resolved.datasets,
       [](const std::string& name) { return datasets::find_dataset(name).has_value(); });
  read("models", resolved.models,
       [](const std::string& name) { return models::find_model(name).has_value(); });
  read("weights", resolved.weights, never);
  read("missing", resolved.missing, never);
  if (problems.added() > before) return std::nullopt;
  if (justified) return resolved;
  problems.add(registered.empty()
                   ? entry.wrong("must name what is not here: datasets, models, weights or missing features")
                   : entry.wrong(fmt::format("names only what is registered ({}), so it can be run",
                                             join(registered, ", ")),
                                 ""));
  return std::nullopt;
}

std::optional<spec::Named> read_analytic(const Entry& entry, Problems& problems) {
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
  return spec::Named{*name, *options};
}

}  // namespace hyfreedp::runner
