// A journal that is read while it is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/mechanism/journal.h"

namespace hyfreedp::mechanism {

// Reads a journal while it is written, each line once, without disturbing its writer. An incomplete
// last line is left for later.
class JournalFollower {
 public:
  explicit JournalFollower(const std::string& path);
  JournalFollower(JournalFollower&&) noexcept;
  JournalFollower& operator=(JournalFollower&&) noexcept;
  ~JournalFollower();
  // Reads on, about `most` bytes (> 0). Returns whether all that is there was read. An error if the
  // file cannot be read or was changed after it was written. A file that became shorter is another
  // one, and is read from its beginning.
  Result<bool> read(std::size_t most);
  // The journal as far as it was read, without `charged`, `executed` and `valid_bytes`. `trial` is
  // empty before the first line.
  const Journal& journal() const;
  // The events that are charged by the rules of journal.h, as far as it was read: of a run under
  // way what it booked, which is up to 192 steps ahead of what it did.
  std::vector<accounting::Event> charged() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hyfreedp::mechanism
