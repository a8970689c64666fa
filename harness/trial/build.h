// Which build of the program a run was made by. Each run's journal has it in the fingerprint of
// every start line, the database beside the run.
//
// `worker` says which code trained. The commit is that of the hyfreedp that started the worker and
// knows its method; the worker does not hold it, so that a commit that leaves its code alone leaves
// it the same program, and a run that was interrupted goes on.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::trial {

struct Build {
  std::string version;  // "0.7.0"; empty: not recorded, as all that follows
  std::string commit;   // "0123456789ab"
  bool dirty = false;   // with changes that were not committed
  std::string worker;   // first 16 hex digits of the SHA-256 of hyfreedp-worker

  bool operator==(const Build&) const = default;
  bool operator<(const Build& other) const;
  std::string text() const;  // "0.7.0, commit 0123456789ab with changes, worker 0011223344556677"
  json::object to_json() const;
};

// What a fingerprint (training/fingerprint.h) says of it. Before 0.7.0 that is the version.
Build build_of(const json::object& fingerprint);
Result<std::vector<Build>> builds_from_json(const json::value& value, const std::string& where);

// Of the fingerprint what decides a run's bits: all but the commit.
json::object without_commit(json::object fingerprint);

// First 16 hex digits of the SHA-256 of a program; empty where it cannot be read.
std::string program_hash(const std::string& path);

}  // namespace hyfreedp::trial
