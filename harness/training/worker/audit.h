// `hyfreedp-worker --audit [FILE]`: one audit request (harness/training/audit/request.h) from standard input or FILE, its
// runs, the verdict as one JSON line on standard output:
//   {"report": harness/audit/findings.h, "setting": {name: text or number, ...}, "seconds": x}
// Progress goes to standard error. Exit status 0 with a report, refuted or not; 2 for a bad request and 1 for a run that
// failed, each with one sentence as the last line of standard error.
#pragma once

#include <string>

namespace hyfreedp::worker {

inline constexpr int kAudited = 0;
inline constexpr int kAuditFailed = 1;

// `file`: empty for standard input.
int run_audit(const std::string& file);

}  // namespace hyfreedp::worker
