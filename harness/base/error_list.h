// Several errors of one input, such as those of a folder's files, as one error: a line each, so
// that whoever has to mend them sees all at once.
#pragma once

#include <cstddef>
#include <cstdlib>
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
  // There must be an error.
  Error error() const {
    if (count_ <= kMostShown) return hyfreedp::error(lines_);
    return hyfreedp::error(lines_ + "\n... and " + std::to_string(count_ - kMostShown) + " more, " +
                           std::to_string(count_) + " in all.");
  }
  // Returns how many errors a line of such an error counts that have no line of their own; 0 for
  // another line. A reader may have put text around the error.
  static std::size_t unlisted_in(const std::string& line) {
    const auto at = line.rfind("... and ");
    if (at == std::string::npos || !line.ends_with(" in all.")) return 0;
    return static_cast<std::size_t>(std::strtoul(line.c_str() + at + 8, nullptr, 10));
  }
  // Success where there is none.
  Result<void> result() const { return empty() ? Result<void>() : Result<void>(error()); }

 private:
  std::string lines_;
  std::size_t count_ = 0;
};

}  // namespace hyfreedp
