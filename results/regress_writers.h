// A nightly comparison as text: terminal, Markdown, JUnit XML. One line a cell, worst first.
#pragma once

#include <string>

#include "results/regress.h"
#include "results/terminal_writer.h"

namespace hyfreedp::results {

// The worst findings that are not "same" stand below their cell, with how many more there are; `style.colour` colours the verdicts.
std::string terminal_regress(const RegressReport& report, const TerminalStyle& style);
// All findings, in a table.
std::string markdown_regress(const RegressReport& report);
// One test case a finding: regressed is a failure, "could not tell" and what was not compared are skipped with the reason.
std::string junit_regress(const RegressReport& report);

// "regressed: 2 cells regressed, 1 could not tell, 30 the same": the first line of each.
std::string summary_of(const RegressReport& report);
// How often a night of no change raises an alarm, over how many tests, and how that is kept.
std::string guarantee_of(const RegressReport& report);

}  // namespace hyfreedp::results
