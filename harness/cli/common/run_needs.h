// Finds what a spec needs that may not be on this machine, and how much it will put on the disk:
// downloads, and the caches that runs map. All of these go into cache_folder()
// (harness/base/files.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {

struct Missing {
  std::string what;        // the dataset's name, or the weights as the spec names them
  std::string why;         // whole sentences: where it was looked for and how to get it
  bool fetchable = false;  // by this program
};

// Returns what the spec names and is not found, each once: datasets, a user's files, weights.
std::vector<Missing> missing_data(const runner::Spec& spec);

// Opens and reads all data that the spec's runs would read. The error names every file that is
// broken or not here, a line each.
Result<void> check_data(const runner::Spec& spec);

// Bytes.
struct DiskNeeds {
  std::uint64_t downloads = 0;      // of data and weights that are not here and can be fetched
  bool downloads_at_least = false;  // the size of some is not known
  std::uint64_t caches = 0;         // all that the spec's runs map
  std::uint64_t cached = 0;         // of these, what is there
  std::string folder;               // where they go
  std::uint64_t free = 0;           // in that folder's file system

  std::uint64_t needed() const { return downloads + (caches - cached); }
};

// Reads none of the data: a cache counts as there if a file of its name and size is. The names of
// caches are not known for data and weights that are not here, so these count as to be made.
DiskNeeds disk_needs(const runner::Spec& spec);

// One line; empty where nothing is cached or downloaded.
std::string disk_text(const DiskNeeds& needs);
// An error where more is needed than is free: it names the folder, both, and the variable that
// moves it.
Result<void> check_disk(const DiskNeeds& needs);

}  // namespace hyfreedp::cli
