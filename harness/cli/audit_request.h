// What `hyfreedp audit` asks of `hyfreedp-worker --audit`: its flags, checked, with the noise that they calibrate to.
//
// One JSON object on the worker's standard input; harness/training/audit/request.h reads it. Every field is always there.
#pragma once

#include "harness/base/json.h"
#include "harness/cli/command_line.h"

namespace hyfreedp::cli {

struct AuditAsked {
  json::object request;     // for the worker
  bool json = false;        // print the worker's answer instead of text
  std::string report = {};  // file for the answer; empty: none
};

// The flags and --help's text.
CommandLine audit_command_line();

// Errors name the flag. Calibrates: sound modes by PLD, the paper's by RDP as published. The claim is the PLD upper bound
// of the calibrated events, or the paper's nominal epsilon.
Result<AuditAsked> audit_asked(const boost::program_options::variables_map& given);

}  // namespace hyfreedp::cli
