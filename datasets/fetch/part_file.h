// The part of a file that is here so far, FILE.part, and which version of the file it is of. Locked
// while it is open, so that two fetches never write one file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

// The version, as a server told it, of the file that the part was taken from; empty: it told
// nothing.
struct PartVersion {
  std::string url;
  std::string etag;
  std::string last_modified;

  // The value for If-Range: a strong ETag, else the date; empty if there is neither.
  std::string validator() const;
};

class PartFile {
 public:
  // Opens the part of the file `path`, whose folder is made. An error if another process has it
  // open.
  static Result<std::unique_ptr<PartFile>> open(const std::string& path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& path() const { return part_; }
  std::uint64_t size() const { return size_; }
  const PartVersion& version() const { return version_; }

  // Empties it; what comes now is of this version.
  Result<void> restart(const PartVersion& version);
  Result<void> append(std::string_view bytes);
  // Makes it the finished file: synced, then renamed.
  Result<void> finish();

 private:
  PartFile(std::string path, int descriptor);
  Error disk(const char* what) const;

  std::string path_;
  std::string part_;
  int descriptor_;
  std::uint64_t size_ = 0;
  PartVersion version_;
};

}  // namespace hyfreedp::datasets
