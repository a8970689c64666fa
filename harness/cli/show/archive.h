// `hyfreedp archive`: freezes a table.
//
// ROOT/NAME has the table in every format, the figures as SVG, the spec as it was run (spec.yaml),
// the part of the database that the table needs (slice.sqlite, results/provenance/slice.h),
// provenance.json, README.md, and SHA256SUMS over all of them. Files are read-only, and an existing
// archive is never changed. It contains nothing confidential.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "results/store/store.h"

namespace hyfreedp::cli {

struct ArchiveRequest {
  std::string spec;
  std::string name;
  std::string root = "results/archive";
  bool partial = false;  // also where studies are not finished; the archive then says so
};

struct ArchivedFile {
  std::string name;
  std::uintmax_t bytes = 0;
};

struct Archived {
  std::string folder;
  std::vector<ArchivedFile> files;  // by name
  std::size_t unfinished = 0;       // cells
};

Result<Archived> archive(const results::Store& store, const ArchiveRequest& request);

// One line for each check. An error if the folder is not an archive.
struct ArchiveCheck {
  std::vector<std::string> passed;
  std::vector<std::string> failed;
};
// Checks the checksums, that there are no other files, that the slice has no confidential values
// and is of this spec, and that the tables built from it are the same byte for byte. Writes to a
// temporary folder only.
Result<ArchiveCheck> check_archive(const std::string& folder);

}  // namespace hyfreedp::cli
