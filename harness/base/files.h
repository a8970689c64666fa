// Writing files so that a crash leaves either the old content or the new one.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "harness/base/result.h"

namespace hyfreedp {

Result<std::string> read_file(const std::string& path);
// Writes PATH.tmp-PID, syncs it and renames it over PATH. Missing parent folders are made. `mode`:
// permission bits.
Result<void> write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);
// Makes the folder and its parents; not an error where it exists.
Result<void> make_folders(const std::string& path);
// Makes the folder with mode 0700, or sets that mode if it exists; parents as make_folders makes
// them. An error if a link, a file or another user's folder stands there.
Result<void> make_private_folder(const std::string& path);
// Makes the folder, or sets its mode to 0700 as far as the file system supports it. It does not
// check the owner and follows a link.
Result<void> make_closed_folder(const std::string& path);
// A folder of its own that goes, with all that is in it, when the object does.
class ScratchFolder {
 public:
  // In `parent`, which is made; without one, where the system has temporary files ($TMPDIR).
  static Result<ScratchFolder> make(const std::string& parent = {});
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};
// Makes a rename or a new file in the folder durable.
Result<void> sync_folder(const std::string& path);
// ${XDG_CACHE_HOME:-~/.cache}/hyfreedp
std::string cache_folder();
// ${XDG_STATE_HOME:-~/.local/state}/hyfreedp: what is not made again when it is deleted.
std::string state_folder();

std::string sha256_hex(std::string_view bytes);
// The same of a file's content, read piece by piece.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace hyfreedp
