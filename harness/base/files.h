// Writing files so that a crash leaves either the old content or the new one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp {

// The meaning of errno, in words.
std::string errno_text();
// The folder that the file is in: "." for a name alone.
std::string folder_of(const std::string& path);

Result<std::string> read_file(const std::string& path);
// Writes PATH.tmp-PID, syncs it and renames it over PATH. Missing parent folders are made. `mode`:
// permission bits.
Result<void> write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);
// The same of a content that comes in pieces: they are written to PATH.tmp-PID, which goes with the
// object unless it was moved into place.
class AtomicFile {
 public:
  // Missing parent folders are made.
  static Result<AtomicFile> create(const std::string& path, unsigned mode = 0644);
  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();
  Result<void> append(std::string_view bytes);
  // Syncs the file, renames it over PATH, and syncs the folder. To be called once, as the last.
  Result<void> move_into_place();

 private:
  AtomicFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string temporary() const;
  std::string path_;
  int descriptor_ = -1;
};
// Makes the folder and its parents; not an error where it exists.
Result<void> make_folders(const std::string& path);
// Makes the folder with mode 0700, or sets that mode if it exists; parents as make_folders makes
// them. An error if a link, a file or another user's folder stands there.
Result<void> make_private_folder(const std::string& path);
// Makes the folder, or sets its mode to 0700 as far as the file system supports it. It does not
// check the owner and follows a link.
Result<void> make_closed_folder(const std::string& path);
// The paths of the folder's entries, sorted; none where nothing is there. An error where
// something is there that cannot be read as a folder.
Result<std::vector<std::filesystem::path>> entries_of(const std::string& folder);
// Removes the folder with all that is in it; not an error where there is none.
Result<void> remove_folder(const std::string& path);
// A folder of its own that goes, with all that is in it, when the object does.
class ScratchFolder {
 public:
  // Makes the folder in `parent`, which is made, too; without one, where the system has temporary
  // files ($TMPDIR).
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

// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // The hash of all bytes that were added: 64 hexadecimal digits. Nothing may be added afterwards.
  std::string hex();

 private:
  std::shared_ptr<void> context_;
};
std::string sha256_hex(std::string_view bytes);
// The same of a file's content, read piece by piece.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace hyfreedp
