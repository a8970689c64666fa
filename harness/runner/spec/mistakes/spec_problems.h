// The mistakes of one spec, collected so that its writer sees all of them at once.
//
// Readers of a section take a Problems&, add what is wrong and go on with what does not depend on
// it. They return nothing (std::nullopt) where the section cannot be used; whoever gets nothing
// says nothing more about it, so that one mistake is one line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::runner {

class Problems {
 public:
  // The name that the messages begin with ("FILE:LINE: ...").
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(const Error& mistake);
  // The value, or nothing and one more mistake.
  template <class T>
  std::optional<T> take(Result<T> result) {
    if (result) return std::move(*result);
    add(result.error());
    return std::nullopt;
  }
  // Adds the error, if it is one. Returns true if not.
  bool take(const Result<void>& result);

  // A map has an unknown key that is nearly `key`, or has it at a wrong level, so that it is not
  // missing. `path`: of the map that lacks it.
  void note_misspelt(const std::string& path, const std::string& key);
  bool is_misspelt(const std::string& path, const std::string& key) const;

  // Adds what is no mistake and yet may not be as its writer thinks; of the same form, and each
  // once.
  void warn(const Error& doubt);
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Mistakes added so far, repeated ones counted again: it grows whenever something is wrong.
  std::size_t added() const { return added_; }
  bool empty() const { return added_ == 0; }
  // All mistakes, each one line, in the order of the file's lines; one that several panels share is
  // there once. Several follow a line that counts them; of very many the first ones are shown. Not
  // for none.
  Error error() const;

 private:
  std::string file_;
  std::vector<std::string> lines_;  // each once
  std::set<std::string> known_;     // of them
  std::vector<std::string> warnings_;
  std::set<std::pair<std::string, std::string>> misspelt_;
  std::size_t added_ = 0;
};

}  // namespace hyfreedp::runner
