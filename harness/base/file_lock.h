// A lock that one process at a time has, until it is destroyed or the process dies however it dies.
#pragma once

#include <memory>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp {

class FileLock {
 public:
  // Waits for it. Makes the file where there is none; its folder must be there. An error where the
  // file cannot be made or locked.
  static Result<std::unique_ptr<FileLock>> take(const std::string& path);
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace hyfreedp
