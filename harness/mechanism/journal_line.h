// The lines of a journal with their running checksums, and the journal's file, which can be synced
// in the background.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "harness/base/json.h"

namespace hyfreedp::mechanism {

// `object` as one line (without newline) with the running checksum that follows `previous`.
struct SealedLine {
  std::string text;
  std::string checksum;
};
SealedLine seal_line(const json::object& object, const std::string& previous);

struct OpenedLine {
  json::object object;  // without "c"
  std::string checksum;
};
// Parses a line. An error if it is not JSON or if its checksum does not follow from `previous`.
Result<OpenedLine> open_line(std::string_view line, const std::string& previous);

// Writes what was appended to `descriptor` to the disk; returns 0 or an errno. It is called by the
// thread that appends and by the background thread, never by both at once for one file.
using SyncCall = std::function<int(int descriptor)>;
int sync_data(int descriptor);  // fdatasync

// An append-only file with an exclusive lock. One thread appends; syncs may run in the background.
class JournalFile {
 public:
  // Makes the file (mode 0600, because journals have confidential values) and its folder if they do
  // not exist. An error if another process holds the file. `sync` is for tests that replace the
  // disk.
  static Result<JournalFile> open(const std::string& path, SyncCall sync = sync_data);
  JournalFile(JournalFile&&) noexcept;
  JournalFile& operator=(JournalFile&&) noexcept;
  ~JournalFile();

  // Removes everything after `valid_bytes`, adds a newline if the last line lacks it, and continues
  // from `checksum`, which is that line's.
  Result<void> resume_after(std::size_t valid_bytes, const std::string& checksum);
  // The checksum of the last line.
  const std::string& checksum() const;
  // Appends a line with its checksum, without syncing it.
  Result<void> append(const json::object& line);
  // Returns once everything appended is on the disk.
  Result<void> sync();
  // Starts a sync of all that was appended; when it is done, wait_until_synced(mark) no longer
  // waits.
  void sync_in_background(std::int64_t mark);
  Result<void> wait_until_synced(std::int64_t mark);
  // An error if the file was removed, or another was put in its place, since it was opened.
  Result<void> check_in_place() const;
  // Syncs everything and starts counting marks at 0 again.
  Result<void> restart_marks();

 private:
  struct State;
  explicit JournalFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hyfreedp::mechanism
