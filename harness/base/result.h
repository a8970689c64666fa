// Expected failures as values.
//
// An Error's message says what went wrong, where (file:line or key path) and what to do about it;
// it is shown to the user as it stands, so it is one or more whole sentences. Everything that can
// fail for a reason outside the program (a bad spec, a missing file, an infeasible epsilon, a wrong
// checksum) returns Result<T>. Exceptions are left to libraries and are caught where a room is
// entered. Violated invariants use HYFREEDP_CHECK, which is always on.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace hyfreedp {

struct Error {
  // The constructor has two arguments, so that a string never becomes an Error implicitly: `return
  // text;` from a Result<std::string> stays a value.
  struct Message {};
  Error() = default;
  Error(Message, std::string text) : message(std::move(text)) {}

  std::string message;
};

// Called by boost::system::result when .value() is asked of a failed result: a programming error.
[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::runtime_error(error.message);
}

template <class T>
using Result = boost::system::result<T, Error>;

inline Error error(std::string message) { return Error(Error::Message{}, std::move(message)); }

// The error with the message "context: message", for adding where it happened on its way up.
inline Error in_context(const std::string& context, const Error& inner) {
  return error(context + ": " + inner.message);
}

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line,
                                      const std::string& why) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": invariant broken: " + condition +
                         (why.empty() ? "" : " (" + why + ")"));
}

}  // namespace hyfreedp

// Always-on invariant: throws std::logic_error, which fails the run. Use for privacy invariants in
// particular.
#define HYFREEDP_CHECK(condition, why) \
  ((condition) ? void(0) : ::hyfreedp::check_failed(#condition, __FILE__, __LINE__, (why)))
