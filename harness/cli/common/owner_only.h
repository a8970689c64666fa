// Files that this process, and what it starts, writes meanwhile are their owner's alone
// (0600, folders 0700): what is confidential.
#pragma once

#include <sys/stat.h>

namespace hyfreedp::cli {

class OwnerOnly {
 public:
  explicit OwnerOnly(bool confidential) : confidential_(confidential) {
    if (confidential_) before_ = ::umask(077);
  }
  ~OwnerOnly() {
    if (confidential_) ::umask(before_);
  }
  OwnerOnly(const OwnerOnly&) = delete;
  OwnerOnly& operator=(const OwnerOnly&) = delete;

 private:
  bool confidential_;
  mode_t before_ = 0;
};

}  // namespace hyfreedp::cli
