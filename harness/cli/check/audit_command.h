// `hyfreedp audit`: tries to refute the claimed epsilon on the real training path, in a worker, on
// generated data.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "harness/audit/findings.h"

namespace hyfreedp::cli {

// `arguments` are those after the command's name. Exit code: 0 accepted; 1 a claim is refuted; 2
// bad input, or a worker that sends no report, with one sentence on `err`.
int audit_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// Prints the claim, what the worker trained (`setting`: names and values), the bound, the findings
// and the verdict.
void print_audit(const audit::Report& report, const json::object& setting, double seconds, std::ostream& out);

}  // namespace hyfreedp::cli
