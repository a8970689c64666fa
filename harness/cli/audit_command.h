// `hyfreedp audit`: tries to falsify the claimed epsilon on the real training path, in a worker, on generated data.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "harness/audit/findings.h"

namespace hyfreedp::cli {

// `arguments`: those after the command's name. Exit code: 0 accepted, 1 a claim is refuted, 2 with one sentence on `err` for
// bad input or a worker that gives no report.
int audit_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Claim, what the worker trained (`setting`: names and values, shown as they stand), bound, findings and verdict.
void print_audit(const audit::Report& report, const json::object& setting, double seconds, std::ostream& out);

}  // namespace hyfreedp::cli
