// The protocol between the coordinator and a worker process: one JSON object a line on the worker's
// standard input and standard output.
//
// To the worker:
//   {"type":"prepare","dataset":{"name":..,"options":{..}}}
//       Load the dataset, and keep it for later trials. Answered by "prepared" or "error".
//   {"type":"run","trial":ID,"config":{..},"journal":PATH,"key":PATH,"attempts":n,
//    "checkpoints":PATH,"checkpoint_seconds":x,"weights":PATH,"commit":..}
//       Run a trial, or continue it if it was interrupted. Answered by "progress" and "done".
//         key        the run's key file; unseeded trials only
//         attempts   how many attempts of the trial may have booked something, as far as the
//                    coordinator knows; 0 if absent
//         checkpoints, checkpoint_seconds
//                    the folder for the run's checkpoints, from which it goes on, and the time
//                    between two; 0: only when it is told to stop. Absent: none are written
//         weights    the folder for the weights of a finished run; absent: weights are not kept
//         commit     the commit of the hyfreedp that asks, for the journal's fingerprint
//   {"type":"stop"}
//       Stop a running trial, write its checkpoint, ignore messages that wait, and exit.
//
// From the worker:
//   {"type":"hello","version":..,"fingerprint":{..}}
//       Once, when the worker is ready.
//   {"type":"prepared","seconds":x}   {"type":"error","message":m}
//   {"type":"progress","trial":ID,"step":s,"steps":T,"scalars":{..}}
//       Once before anything is booked in the run's journal: without it the run has released
//       nothing. Then at most four times a second. s is the number of completed steps; scalars are
//       released values only.
//   {"type":"heartbeat","moves":n,"device_bytes":b}
//       Once a second while it works on a message. n changes while the work goes on: training comes
//       to its next microbatch, data are read or made. A worker of which n stands still, or which
//       is silent, hangs. It follows realised batch sizes, so it is neither stored nor shown. b:
//       memory of tensors on the GPU; 0 on the processor.
//   {"type":"done","trial":ID,"state":"finished|failed","kind":k,"message":m,"weights_problem":m,
//    "checkpoint_problem":m,"seconds":x,"cpu_seconds":x,"peak_bytes":n}
//       The run ended. A run that was stopped sends none.
//         kind, message     of a failure (Finish, journal.h)
//         weights_problem     why the weights of a finished run were not kept; empty: no problem
//         checkpoint_problem  why the last checkpoint could not be written; empty: no problem
//         seconds             wall-clock time of this execution
//         cpu_seconds         its processor time, user and system
//         peak_bytes          resident memory of the process while it trained (Finish); 0: unknown
//
// Standard error is free text and is shown to the user if a worker dies. A worker does not read the
// database. The end of the input, SIGTERM, SIGINT, SIGHUP and SIGUSR1 mean the same as "stop"; the
// journal then allows the run to continue later.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/json.h"

namespace hyfreedp::trial {

inline constexpr std::string_view kWorkerProtocolVersion = "2";

// A line of either direction: an object with a text `type`, in which every text and number that is
// named above and is there (not null) has its type; numbers are finite. So string_or(), int_or()
// and double_or() do not throw for these. Whether a member is needed, and what else the object
// holds, is for the reader. Errors begin with `where`.
Result<json::object> parse_message(std::string_view line, const std::string& where);

}  // namespace hyfreedp::trial
