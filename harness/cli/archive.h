// A table, frozen: `hyfreedp archive`.
//
// ROOT/NAME holds the table in every format, the figures as SVG, the spec as it was run (spec.yaml), the part of the database
// that the table rests on (slice.sqlite, results/slice.h), provenance.json, README.md and SHA256SUMS over all of them. Files are
// read-only; an archive that exists is never written to. Nothing confidential is in it.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "results/store.h"

namespace hyfreedp::cli {

struct ArchiveRequest {
  std::string spec;
  std::string name;
  std::string root = "results/archive";
  bool partial = false;  // also where cells are not finished; the archive then says so
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

// One line a thing that was looked at. An error where the folder is no archive.
struct ArchiveCheck {
  std::vector<std::string> passed;
  std::vector<std::string> failed;
};
// Checksums, no other files, the slice free of confidential values and of this spec, and the tables built anew from it the same
// byte for byte. Writes nothing but into a temporary folder.
Result<ArchiveCheck> check_archive(const std::string& folder);

}  // namespace hyfreedp::cli
