// Puts wanted files of an archive (tar, tar.gz, zip), or of a folder, into a folder. It refuses
// what datasets/image/archive.h does: links, devices, absolute names, names with a .., sizes beyond
// the limits, anything cut short. Nothing is written under a name that the archive chose.
#pragma once

#include <string>
#include <vector>

#include "datasets/image/archive.h"
#include "harness/base/result.h"
#include "harness/base/supply.h"

namespace hyfreedp::datasets {

// A member may have 1 GB, as it is held in memory; all files of the archive 64 GB.
ArchiveLimits unpack_limits();

// Puts each member into `folder` under its own name, with its record (record.h), whose `from` is
// `from` and the member's path. Errors: a member that is not there, one whose pattern fits several
// files or whose checksum differs, and those of visit_files. Files that were written before an
// error stay; each is whole.
Result<void> unpack(const std::string& archive, const std::vector<Member>& members, const std::string& folder,
                    const std::string& from, const ArchiveLimits& limits = unpack_limits());

}  // namespace hyfreedp::datasets
