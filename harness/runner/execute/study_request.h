// Requests of a command (`cancel`, `note`, `tag`) about studies of an output folder that a
// coordinator may work in.
//
// The database has one writer, whoever holds the folder's lock. Where nobody does, the command
// takes the lock and writes itself. Where a coordinator works, the command leaves a file for it in
// ROOT/requests (mode 0700), and waits until that is gone:
//   N.json      one request, written atomically with mode 0600
//   N.taken     the coordinator carries it out; removed when that is done
// The next writer carries out the requests that a killed coordinator left, so each may be done
// twice.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct StudyRequest {
  enum class Kind { cancel, note, tag };
  BOOST_DESCRIBE_NESTED_ENUM(Kind, cancel, note, tag)
  Kind kind = Kind::cancel;
  std::vector<std::string> studies;      // ids, in the database
  std::string note;                      // replaces what was noted; empty: removes it
  std::vector<std::string> add, remove;  // tags
};
BOOST_DESCRIBE_STRUCT(StudyRequest, (), (kind, studies, note, add, remove))

// A request that a coordinator has taken; `path` is removed when it is done.
struct TakenRequest {
  StudyRequest request;
  std::string path;
};

inline constexpr std::chrono::seconds kRequestPatience{60};

// Has the request carried out, and returns when it is. An error, and nothing is changed, if the
// process that works in the folder does not take it within `patience`.
Result<void> hand_in(const OutFolder& out, const StudyRequest& request,
                     std::chrono::milliseconds patience = kRequestPatience);

// Leaves the request in ROOT/requests; the path of its file.
Result<std::string> leave_request(const OutFolder& out, const StudyRequest& request);

// For the coordinator: the requests that wait, oldest first. One that cannot be read is removed.
std::vector<TakenRequest> take_requests(const OutFolder& out);
void remove_request(const TakenRequest& taken);

// For whoever holds the lock, and after catch_up(): writes to the store what the request asks for.
// `cancel` leaves studies that have an answer as they are; the runs of the others have ended.
Result<void> carry_out(results::Store& store, const OutFolder& out, const StudyRequest& request);

}  // namespace hyfreedp::runner
