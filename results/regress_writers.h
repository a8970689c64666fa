// A nightly comparison as text: terminal, Markdown, JUnit XML. What moved comes first; a night in
// which nothing moved is one line on the terminal.
#pragma once

#include <string>

#include "results/regress.h"
#include "results/terminal_writer.h"

namespace hyfreedp::results {

// What moved alike in several cells once, then the cells that are not the same, worst first, with
// their worst findings and how many more there are; `style.colour` colours the verdicts.
std::string terminal_regress(const RegressReport& report, const TerminalStyle& style);
// What moved as a list, then all findings in tables that are folded (<details>).
std::string markdown_regress(const RegressReport& report);
// One test case a finding: regressed is a failure, "could not tell" an error, what was not compared
// is skipped with the reason.
std::string junit_regress(const RegressReport& report);

// "regressed: 2 cells regressed, 1 could not tell, 30 the same": the first line of each.
std::string summary_of(const RegressReport& report);
// How often a night of no change raises an alarm, over how many tests, and how that is kept.
std::string guarantee_of(const RegressReport& report);

}  // namespace hyfreedp::results
