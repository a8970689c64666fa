// `hyfreedp-worker --audit [FILE]`: reads one audit request (harness/audit/request.h) from
// standard input or FILE, trains, and writes the verdict as one JSON line to standard output:
//   {"report": harness/audit/findings.h, "setting": {name: text or number, ...}, "seconds": x}
// Progress goes to standard error. The exit status is 0 with a report, whether the claim was
// refuted or not, 2 for a bad request and 1 for a run that failed; in the last two cases the last
// line of standard error is the reason, as a sentence.
#pragma once

#include <string>

#include "harness/training/parts.h"

namespace hyfreedp::worker {

inline constexpr int kAudited = 0;
inline constexpr int kAuditFailed = 1;

// `file`: the path, or empty for standard input.
int run_audit(const std::string& file, const training::Parts& parts = {});

}  // namespace hyfreedp::worker
