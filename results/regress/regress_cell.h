// Compares one cell of a nightly run with the same cell of the reference. results/regress/regress.h
// describes every check and test, and what the verdicts mean.
#pragma once

#include <vector>

#include "results/regress/regress.h"

namespace hyfreedp::results {

// The findings of all checks and tests of a cell.
//   tonight, reference   the two cells
//   same_spec            whether both specs ask for the cell's runs alike (regress_settings.h)
// Findings of tests with a p-value have no verdict yet: it depends on all tests of the night
// (judge()).
std::vector<RegressFinding> compare_cells(const NightCell& tonight, const NightCell& reference,
                                          bool same_spec, const RegressOptions& options);
// The finding of an A/B timing: a paired t-test on the logarithms of the ratios of its rounds. The
// verdict is `unclear` if fewer than two rounds can be used; otherwise judge() gives it.
RegressFinding timing_finding(const AbTiming& timing, const RegressOptions& options);

// Sets the verdict of a finding whose adjusted p-value is known, and adds the reason to its text.
// If the verdict is `unclear`, it also sets how many seeds or rounds would be needed.
//   tests   the number of tests of the whole night
void judge(RegressFinding& finding, std::size_t tests, const RegressOptions& options);

// The cause of a failed run, by its kind: chance ("diverged"), the machine ("killed", "hung",
// "over-time", "out-of-memory", "missing-data", "device-unavailable", "cancelled"), or else the
// program.
bool fails_by_chance(const std::string& failure_kind);
bool machine_failed(const std::string& failure_kind);

}  // namespace hyfreedp::results
