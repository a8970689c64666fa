// Writes the report of a nightly comparison (results/regress/regress.h) for a terminal, as Markdown
// and as JUnit XML.
#pragma once

#include <string>

#include "results/regress/regress.h"
#include "results/table/terminal_writer.h"

namespace hyfreedp::results {

// A night in which nothing changed is one line. Otherwise: the summary; changes that several cells
// have in common; notes and the guarantee; each cell that is not the same, worst first, with its
// two worst findings and the number of others; and why comparisons were skipped.
std::string terminal_regress(const RegressReport& report, const TerminalStyle& style);
// The summary, a list of what changed, all findings in folded tables (<details>), and the
// guarantee.
std::string markdown_regress(const RegressReport& report);
// One test case for each finding. A regression is a failure, "could not tell" is an error, and what
// was not compared is skipped, with the reason.
std::string junit_regress(const RegressReport& report);

// One line such as "SPEC: regressed (cells: 2 regressed, 1 could not tell, 30 same)", with which
// the terminal's and the Markdown report begin.
std::string summary_of(const RegressReport& report);
// The number of tests, how probable a false alarm is in a night in which nothing changed, and how
// probable it is that "same" is wrong.
std::string guarantee_of(const RegressReport& report);

}  // namespace hyfreedp::results
