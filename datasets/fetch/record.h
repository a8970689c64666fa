// FILE.source.json: where a fetched file came from, so that an unpinned one can still be told from
// another, and so that one may cite it.
//
//   {"bytes": 18826032, "checksum": "pinned", "date": "2026-11-23T04:00:00Z",
//    "from": "https://...", "sha256": "..."}
//
// `from` is the address as declared, never one that a redirect led to, which may hold a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct Record {
  std::string from;  // a URL, or "Python package NAME==VERSION (sha256 ...), MEMBER"
  std::uint64_t bytes = 0;
  std::string sha256;
  bool pinned = false;    // the checksum was known before the file came
  std::string date = {};  // of the fetch, UTC; write_record fills in today's
};

std::string record_path(const std::string& file);
Result<void> write_record(const std::string& file, Record record);
// None if there is no record, or none that can be read.
std::optional<Record> read_record(const std::string& file);

}  // namespace hyfreedp::datasets
