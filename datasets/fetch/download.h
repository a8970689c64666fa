// One file by its URL, whole or not at all.
//
//   FILE.part       what is here so far; a later call goes on from its end by a range request
//   FILE.part.json  {url, etag, last_modified}: which version of the file it is a part of
//   FILE            only when complete, of the known size and checksum, and synced to the disk
//   FILE.source.json  where it came from (record.h)
//
// A part is continued only if the server can say that the file is the same (If-Range with its ETag
// or date) or a pinned checksum will tell; a server that ignores ranges begins anew, and so does a
// file that has changed. http, https and file URLs only; a redirect leads to http or https, and
// never from https to http.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/fetch/transport.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct WantedFile {
  std::vector<std::string> urls;  // tried in this order
  std::string path;               // where it is put; parent folders are made
  std::uint64_t bytes = 0;        // 0: unknown
  std::string sha256 = {};        // empty: unpinned
};

// Errors, a sentence each with what to do: no such host, refused, 404 and other answers, a stall,
// too short, wrong size or checksum, no room on the disk, another process that writes the same
// file. If there are several addresses, it tells the error of each.
Result<void> download(const WantedFile& file, const Transport& transport);

}  // namespace hyfreedp::datasets
