// One cell of a nightly comparison; regress.h says what is compared.
#pragma once

#include <vector>

#include "results/regress.h"

namespace hyfreedp::results {

// Every check and test of the cell. What has a p-value has no verdict yet: that needs all tests of
// the night.
std::vector<RegressFinding> compare_cells(const NightCell& tonight, const NightCell& reference,
                                          bool same_spec, const RegressOptions& options);
RegressFinding timing_finding(const AbTiming& timing, const RegressOptions& options);

// The verdict of a finding whose `adjusted` is known, and its words. `tests`: of the whole night.
void judge(RegressFinding& finding, std::size_t tests, const RegressOptions& options);

// Failures that happen by chance, to a run; those of the machine, which say nothing; all others are
// the program's own.
bool fails_by_chance(const std::string& failure_kind);
bool machine_failed(const std::string& failure_kind);

}  // namespace hyfreedp::results
