// Several errors of one input, such as those of a folder's files, as one error: a line each, so
// that whoever has to mend them sees all at once.
#pragma once

#include <cstddef>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp {

class ErrorList {
 public:
  // So many are shown; of the others their number is.
  static constexpr std::size_t kMostShown = 20;

  void add(const Error& one) {
    if (++count_ > kMostShown) return;
    lines_ += (lines_.empty() ? "" : "\n") + one.message;
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  // Not for none.
  Error error() const {
    if (count_ <= kMostShown) return hyfreedp::error(lines_);
    return hyfreedp::error(lines_ + "\n... and " + std::to_string(count_ - kMostShown) + " more, " +
                           std::to_string(count_) + " in all.");
  }
  // Success where there is none.
  Result<void> result() const { return empty() ? Result<void>() : Result<void>(error()); }

 private:
  std::string lines_;
  std::size_t count_ = 0;
};

}  // namespace hyfreedp
