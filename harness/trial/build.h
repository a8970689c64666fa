// The build of the program that made a run. It is in the fingerprint of every start line of the
// run's journal, and in the run's record in the database.
//
// `worker` identifies the code that trained. The commit is that of the hyfreedp that started the
// worker. It is not compiled into the worker, so a commit that does not change the worker's code
// leaves the same program, and an interrupted run can continue.
#pragma once

#include <string>
#include <vector>

#include "harness/base/describe.h"

namespace hyfreedp::trial {

struct Build {
  std::string version;  // "0.7.0"; empty: nothing here was recorded
  std::string commit;   // "0123456789ab"
  bool dirty = false;   // with changes that were not committed
  std::string worker;   // first 16 hex digits of the SHA-256 of hyfreedp-worker

  bool operator==(const Build&) const = default;
  bool operator<(const Build& other) const;
  std::string text() const;  // "0.7.0, commit 0123456789ab with changes, worker 0011223344556677"

  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(Build, (), (version, commit, dirty, worker))

// The build that a fingerprint (training/fingerprint.h) describes. Before 0.7.0 it has the version
// only.
Build build_of(const json::object& fingerprint);

// The fingerprint without the commit: the part on which a run's results depend bit for bit.
json::object without_commit(json::object fingerprint);

// First 16 hex digits of the SHA-256 of a program; empty where it cannot be read.
std::string program_hash(const std::string& path);

}  // namespace hyfreedp::trial
