// The journal's lines and its file: running checksums, torn tails, and syncing off the critical path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/json.h"

namespace hyfreedp::trial {

// `object` as one line (without newline) that carries the running checksum after `previous`.
struct SealedLine {
  std::string text;
  std::string checksum;
};
SealedLine seal_line(const json::object& object, const std::string& previous);

struct OpenedLine {
  json::object object;  // without "c"
  std::string checksum;
};
// An error when the line is not JSON or its checksum does not follow from `previous`.
Result<OpenedLine> open_line(std::string_view line, const std::string& previous);

// Brings what was written to `descriptor` onto the disk; 0, or an errno. Called from the writing thread and from the
// background syncer, never from both for one file at once.
using SyncCall = std::function<int(int descriptor)>;
int sync_data(int descriptor);  // fdatasync

// An append-only file under an exclusive lock. One thread appends; syncs may run in the background.
class JournalFile {
 public:
  // Makes the file (mode 0600: journals hold confidential values) and its folder where absent. A file that another
  // process holds is an error. `sync` is given by tests that put another disk in the place of this one.
  static Result<JournalFile> open(const std::string& path, SyncCall sync = sync_data);
  JournalFile(JournalFile&&) noexcept;
  JournalFile& operator=(JournalFile&&) noexcept;
  ~JournalFile();

  // Cuts everything after `valid_bytes`, ends the last line where its newline is missing, and goes
  // on from the checksum there.
  Result<void> resume_after(std::size_t valid_bytes, const std::string& checksum);
  Result<void> append(const json::object& line);
  Result<void> sync();
  // Asks for a sync of all appended so far; when it is over, wait_until_synced(mark) no longer waits.
  void sync_in_background(std::int64_t mark);
  Result<void> wait_until_synced(std::int64_t mark);
  // Syncs everything and counts marks from 0 again.
  Result<void> restart_marks();

 private:
  struct State;
  explicit JournalFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hyfreedp::trial
