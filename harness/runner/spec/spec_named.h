// A part of a spec that has a name and the options of that name: a dataset, a model, an optimizer.
#pragma once

#include <optional>
#include <string>

#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {

// `key: NAME`, or `key: {name: NAME, option: value, ...}`. `find` gives the facts of a name.
template <class Find>
std::optional<spec::Named> read_named_part(const Entry& entry, const Find& find, Problems& problems) {
  Entry name_entry = entry;
  Layers options;
  if (entry.is_map()) {
    const auto name = entry.find("name");
    if (!name) {
      entry.need("name", problems);
      return std::nullopt;
    }
    name_entry = *name;
    options.add(entry);
  }
  const auto name = problems.take(name_entry.text());
  if (!name) return std::nullopt;
  const auto facts = find(*name);
  if (!facts) {
    // For models the error lists the names; `linear` would be no example of what was meant.
    const bool of_model = without_places(name_entry.path()).starts_with("model");
    problems.add(of_model ? name_entry.wrong_inside(facts.error().message, "")
                          : name_entry.wrong(facts.error()));
    return std::nullopt;
  }
  const auto resolved = options_from((**facts).options, options, problems, {"name"});
  if (!resolved) return std::nullopt;
  return spec::Named{*name, *resolved};
}

template <class Find>
std::optional<spec::Named> read_required(const Layers& layers, const std::string& key, const Find& find,
                                         Problems& problems) {
  const auto entry = layers.find(key);
  if (entry) return read_named_part(*entry, find, problems);
  layers.need(key, problems);
  return std::nullopt;
}

}  // namespace hyfreedp::runner
