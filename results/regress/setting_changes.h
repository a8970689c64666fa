// Describes in words how two resolved settings differ: "lr 0.01 -> 0.012".
//
// A setting is compared leaf by leaf. Numbers are shown with as few digits as tell the two apart
// (six at least); a value that only one of the two has is "(none)" in the other. A long text or
// list is only said to have changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::results {

// Key path of each leaf, "controller.options.lr", and its canonical JSON.
using Setting = std::map<std::string, std::string>;
Setting setting_of(const json::object& config);

// "0.01 -> 0.012" of two values' canonical JSON, empty where there is none: "(none) -> 3";
// "changed" where they are too long.
std::string value_change(const std::string& before, const std::string& now);

// The changes in the order of key paths; empty if the settings are equal. Names are the shortest
// that are unambiguous: "lr", "probe.noise". If something was replaced ("optimizer adamw -> sgd"),
// its options are left out.
std::vector<std::string> setting_changes(const Setting& before, const Setting& now);

// The changes between two resolved specs, with the panels or rows that have them: "steps 100 -> 60
// (linear, mlp)"; also which panels and rows are new or missing.
std::vector<std::string> spec_changes(const json::object& before, const json::object& now);

}  // namespace hyfreedp::results
