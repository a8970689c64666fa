// Brings what a supply (harness/base/supply.h) declares into a folder.
#pragma once

#include <string>
#include <vector>

#include "datasets/fetch/transport.h"
#include "harness/base/result.h"
#include "harness/base/supply.h"

namespace hyfreedp::datasets {

// Files that are there as they should be are left alone, so that a second call needs no network;
// one that is not is fetched again. The error is the first; what was fetched before it stays.
Result<void> fetch(const Supply& supply, const std::string& folder, const Transport& transport);

// The files that a supply puts into its folder, with their SHA-256 where these are known.
struct SuppliedFile {
  std::string name;
  std::string sha256;
};
std::vector<SuppliedFile> supplied_files(const Supply& supply);

enum class FileState { as_pinned, as_recorded, unknown, different, absent };
struct CheckedFile {
  std::string name;
  FileState state = FileState::absent;
  std::string expected;  // SHA-256; empty: unknown
  std::string found;     // empty: absent or unreadable
};
// Compares the files in the folder with their checksums: those given, else those recorded when they
// were fetched.
std::vector<CheckedFile> check_files(const std::vector<SuppliedFile>& files, const std::string& folder);

}  // namespace hyfreedp::datasets
