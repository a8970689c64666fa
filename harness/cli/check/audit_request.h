// The request that `hyfreedp audit` sends to `hyfreedp-worker --audit`: its flags, checked, with
// the noise that they are calibrated to. It is one JSON object on the worker's standard input with
// every field present; harness/audit/request.h reads it.
#pragma once

#include "harness/audit/request.h"
#include "harness/cli/common/command_line.h"

namespace hyfreedp::cli {

struct AuditAsked {
  audit::Request request;   // for the worker
  bool json = false;        // print the worker's answer instead of text
  std::string report = {};  // file for the answer; empty: none
};

// The flags and --help's text.
CommandLine audit_command_line();

// Reads and checks the flags; errors name the flag. Calibrates the noise: sound modes by PLD, the
// paper's by RDP as published. The claim is the PLD upper bound of the calibrated events, or the
// paper's nominal epsilon.
Result<AuditAsked> audit_asked(const boost::program_options::variables_map& given);

}  // namespace hyfreedp::cli
