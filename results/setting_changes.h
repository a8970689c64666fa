// What two resolved settings differ in, in words: "lr 0.01 -> 0.012". Pure.
//
// A setting is compared leaf by leaf. Numbers are shown with as few digits as tell the two apart
// (six at least); a value that only one of the two has is "(none)" in the other; of a text or list
// that is too long to be read, that it changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::results {

// Key path of each leaf, "controller.options.lr", and its canonical JSON.
using Setting = std::map<std::string, std::string>;
Setting setting_of(const json::object& config);

// In the order of key paths; empty where the settings are equal. Names are the shortest that are
// clear: "lr", "probe.noise"; of something that has another name ("optimizer adamw -> sgd") the
// options are left out.
std::vector<std::string> setting_changes(const Setting& before, const Setting& now);

// Of two resolved specs: "steps 100 -> 60 (linear, mlp)", with the panels or panel/row where that
// is so; also which panels and rows are new or gone.
std::vector<std::string> spec_changes(const json::object& before, const json::object& now);

}  // namespace hyfreedp::results
