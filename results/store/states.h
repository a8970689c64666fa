// The changes of state that a stored row allows.
//
//   trial   running  -> running, finished, failed
//           failed   -> running, finished, failed, if the machine was at fault
//                    (killed, hung, over-time, out-of-memory, missing-data, device-unavailable,
//                    internal), or what it was to train with (invalid-config: weights that do not
//                    fit, say): the next run tries again
//           failed   final, if the run itself was at fault (diverged)
//           finished final
//   study   open     -> open, concluded, failed
//           failed   -> open, concluded, failed: its trials may be tried again; one that was
//                    cancelled is open again when its user says so (`hyfreedp retry`), and one
//                    that was lost has its answer again when its journal is back
//           concluded final
//
// A final row is immutable: writing exactly the same row again is accepted and changes nothing.
#pragma once

#include <string>

#include "results/store/store.h"

namespace hyfreedp::results {

// True if the machine, or what the run was to train with, was at fault and not the run.
bool may_be_tried_again(const std::string& failure_kind);
// True if a run that failed so cannot have begun: what it needs must be mended first.
bool is_setup_failure(const std::string& failure_kind);

bool is_final(const TrialRecord& trial);
bool is_final(const StudyRecord& study);

// True if the study has its row: a value, or the method's own reason for having none. Running it
// again could only repeat the answer, or, if its draws are hidden, make a second release.
bool is_answered(const StudyRecord& study);

// The failure kind of a study of a seed that a comparison did not need (spec::SequentialSeeds). No
// run was made for it, and it has no value; what it would have cost is charged. Whoever counts
// failures leaves it out.
inline constexpr const char* kNotNeeded = "not-needed";
bool is_not_needed(const StudyRecord& study);

// The failure kind of a study that its user ended (`hyfreedp cancel`). It counts as answered, so
// that no run tries it again by itself, but nothing is known of its value.
inline constexpr const char* kCancelledStudy = "cancelled";
bool is_cancelled(const StudyRecord& study);

// The failure kind of a study that had its answer, which cannot come back for want of a journal. It
// counts as answered: what it cost is charged, and nothing opens it again but the journal's return
// (runner/odometer/release_record.h).
inline constexpr const char* kLostStudy = "lost";
bool is_lost(const StudyRecord& study);

// True if two trials are equal in all that may not change, which is everything but the seconds and
// the memory; if two studies are equal but for the seconds, the code and the accountant of their
// noise.
bool same_outcome(const TrialRecord& a, const TrialRecord& b);
bool same_outcome(const StudyRecord& a, const StudyRecord& b);

}  // namespace hyfreedp::results
