// The papers' specs, and a few of them that have all that any has.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::end_to_end {

// The specs with a runnable preset of that name.
inline std::vector<std::string> files_with(const std::string& preset) {
  std::vector<std::string> files;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(HYFREEDP_SOURCE_DIR "/experiments/papers")) {
    if (file.path().extension() != ".yaml") continue;
    const auto presets = runner::presets_of(file.path().string()).value();
    if (std::ranges::count(presets, preset) == 0) continue;
    const auto spec = runner::load_spec(file.path().string(), preset);
    EXPECT_TRUE(spec) << spec.error().message;
    if (spec && runner::is_runnable(*spec)) files.push_back(file.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The networks, parts of them, kinds of data and methods that a spec trains, and what it draws.
inline std::set<std::string> parts_of(const std::string& file, const std::string& preset) {
  std::set<std::string> parts;
  const auto spec = runner::load_spec(file, preset).value();
  for (const auto& figure : spec.content.figures.value_or(std::vector<spec::Figure>{})) {
    parts.insert("figure " + figure.kind);
  }
  for (const auto& study : runner::plan(spec).value()) {
    const auto& base = study.cell.base;
    parts.insert("network " + canonical_json(base.model.options) + base.model.name);
    for (const char* option : {"features", "network", "weights", "path"}) {
      const auto* value = base.dataset.options.if_contains(option);
      parts.insert(base.dataset.name + option + (value == nullptr ? "" : canonical_json(*value)));
    }
    for (const auto& shifted : base.ood_test) parts.insert("ood " + shifted.dataset.name);
    parts.insert("method " + study.baseline->name);
  }
  return parts;
}

// A few of `files` that have every part of all (parts_of), the richest first; all of them with
// HYFREEDP_SLOW.
inline std::vector<std::string> files_with_every_part(const std::vector<std::string>& files,
                                                      const std::string& preset) {
  if (std::getenv("HYFREEDP_SLOW") != nullptr) return files;
  std::map<std::string, std::set<std::string>> missing;
  for (const auto& file : files) missing[file] = parts_of(file, preset);
  std::vector<std::string> chosen;
  while (true) {
    const auto richest =
        std::ranges::max_element(missing, {}, [](const auto& of_file) { return of_file.second.size(); });
    if (richest == missing.end() || richest->second.empty()) return chosen;
    chosen.push_back(richest->first);
    const auto covered = richest->second;
    for (auto& of_file : missing) {
      std::erase_if(of_file.second, [&](const auto& part) { return covered.contains(part); });
    }
  }
}

// "row, epsilon: kind: message" of the cells without a value. A private selection may draw no run.
inline std::string failed_cells(const results::Store& store, const std::string& spec) {
  std::string failed;
  for (const auto& study : store.studies(spec).value()) {
    if (study.state == results::StudyState::concluded || study.failure_kind == "no-run-drawn") continue;
    failed += study.row + ": " + study.failure_kind + ": " + study.failure_message + "\n";
  }
  return failed;
}

}  // namespace hyfreedp::end_to_end
