// The end of `hyfreedp run`: what it writes and prints when its coordinator has ended.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "harness/runner/execute/coordinator.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::cli {

inline constexpr const char* kUnkept = "Weights not kept without --confidential";

// A line for each reason: `what`, the reason, and the rows to which it applies.
void print_reasons(const char* what, const std::map<std::string, std::vector<std::string>>& reasons,
                   std::ostream& out);

// Writes the tables and figures of a run that came to its end, and says what became of its studies
// and weights; of another, why it ended. `seconds`: that the run took. Returns the exit code.
int finish_run(const runner::RunReport& report, const results::Store& store, const runner::Spec& spec,
               const runner::OutFolder& folder, double seconds, std::ostream& out, std::ostream& err);

}  // namespace hyfreedp::cli
