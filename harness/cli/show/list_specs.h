// `hyfreedp list specs`: every spec below a folder, what it reproduces, and the state of each of
// its presets on this machine.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::cli {

struct ListedPreset {
  std::string name;  // empty: the spec has none
  std::string title;
  // "runnable", "data missing", "gpu missing", "too large", "not runnable", "analytic", "cannot be
  // read". If several hold, the first.
  std::string state;
  std::string why;  // which data, the reason, what is computed
  // The needs for running it here, such as "`fetch` of 532 MB" and "a GPU with 11 GB"; empty: it
  // runs here.
  std::vector<std::string> needs = {};
  std::size_t studies = 0;  // rows x epsilons x seeds
  std::size_t cells = 0;    // rows x epsilons
};

struct ListedSpec {
  std::string path;
  std::string title;
  std::string description;
  std::string paper;  // with `id`, empty where it reproduces nothing
  std::string id;
  std::vector<ListedPreset> presets;  // at least one
};

// Every .yaml file below `folder`, in the order of their paths; a file that is not a spec is listed
// with the reason.
Result<std::vector<ListedSpec>> listed_specs(const std::string& folder);
// The conditions on specs that are shown; empty: all. `state` as --state has it: the states' words
// joined by hyphens.
struct SpecFilter {
  std::string in_path;
  std::string state;
  std::string paper;
};
// An error that names the states where there is none of that name.
Result<void> check_filter(const SpecFilter& filter);
// The specs that have a preset of that state, with those presets alone.
std::vector<ListedSpec> filtered(const std::vector<ListedSpec>& specs, const SpecFilter& filter);

void print(const std::vector<ListedSpec>& specs, std::ostream& out);
// One line for every preset: path, preset, state, cells, title, needs.
void print_short(const std::vector<ListedSpec>& specs, std::ostream& out);
json::array to_json(const std::vector<ListedSpec>& specs);

}  // namespace hyfreedp::cli
