// Gives an example for each place of a spec, as one line of YAML: error messages show it, and a
// test loads every one of them.
#pragma once

#include <map>
#include <string>

#include "harness/base/options.h"

namespace hyfreedp::runner {

// The examples by key path without list positions, and without the `defaults` or `panels` that may
// be around it: "train.steps" is "steps: 100".
const std::map<std::string, std::string>& spec_examples();
// A key path without list positions, and without the `defaults` or `panels` around it:
// "panels[0].rows[1].steps" is "rows.steps".
std::string without_places(const std::string& path);
// Returns the example of a key path as errors have it ("panels[0].train.steps"); empty if there is
// none.
std::string example_at(const std::string& path);
// "lr: 0.01": gives the option a value it may have, the default where there is one.
std::string example_line(const OptionSpec& option);

}  // namespace hyfreedp::runner
