// The protocol between coordinator and worker: one JSON object a line on the worker's standard
// input and output.
//
//   to the worker    {"type":"prepare","dataset":{"name":..,"options":{..}}}        load (and cache) the
//   features
//                    {"type":"run","trial":ID,"config":{..},"journal":PATH,"key":PATH}   key: for unseeded
//                    trials; "attempts":n beside them: attempts of the trial that the database
//                    knows to have booked something; "weights":PATH: the folder in which a
//                    finished run's weights are kept; "commit": of the hyfreedp that asks,
//                    for the journal
//                    {"type":"stop"}                                                finish nothing further
//                    and leave
//   from the worker  {"type":"hello","version":..,"fingerprint":{..}}               once, when ready
//                    {"type":"prepared","seconds":x} | {"type":"error","message":m}
//                    {"type":"progress","trial":ID,"step":s,"steps":T,"scalars":{..}}    a few times a
//                    second;
//                                                                                    released
//                                                                                    values only
//                    {"type":"done","trial":ID,"state":"finished|failed","kind":k,"message":m,"seconds":x,
//                     "weights_problem":m,               why a finished run's weights were not kept
//                     "cpu_seconds":x,"peak_bytes":n}    largest memory in use by the process,
//                                                        earlier trials included
// Standard error is free text and is shown to the user when a worker dies. A worker knows nothing
// of the database. End of input means stop. SIGTERM: stop after the current step; the journal stays
// resumable.
#pragma once

#include <string_view>

namespace hyfreedp::trial {
inline constexpr std::string_view kWorkerProtocolVersion = "1";
}
