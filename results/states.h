// Which change of state a stored row allows.
//
//   trial   running -> running, finished, failed
//           failed  -> running, finished, failed   where the machine was at fault (killed, out-of-memory,
//                                                  missing-data, device-unavailable, internal): the next run
//                                                  tries again
//           failed                                 for good where the run itself was (diverged,
//           invalid-config) finished                               for good
//   study   open    -> open, concluded, failed
//           failed  -> open, concluded, failed     its trials may be tried again
//           concluded                              for good
//
// "For good" means immutable: putting the very same row again is accepted and changes nothing.
#pragma once

#include <string>

#include "results/store.h"

namespace hyfreedp::results {

std::string to_string(StudyState state);
Result<StudyState> study_state_from(const std::string& name);
Result<trial::TrialState> trial_state_from(const std::string& name);

// The machine was at fault, not the run.
bool may_be_tried_again(const std::string& failure_kind);

bool is_final(const TrialRecord& trial);
bool is_final(const StudyRecord& study);

// It has its row: a value, or the method's own reason for having none. Asking again could only repeat the answer, or,
// where draws are hidden, make a second release.
bool is_answered(const StudyRecord& study);

// Equal in all that may not change: everything but seconds.
bool same_outcome(const TrialRecord& a, const TrialRecord& b);
bool same_outcome(const StudyRecord& a, const StudyRecord& b);

}  // namespace hyfreedp::results
