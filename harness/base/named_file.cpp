#include "harness/base/named_file.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp {

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

namespace {

constexpr int kMostLinks = 40;
constexpr auto kWaitForReader = std::chrono::seconds(10);

// The end of a chain of links, whether or not there is a file; or the first open file in it.
Result<std::string> end_of_links(const std::string& path) {
  std::filesystem::path end(path);
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code failure;
    if (named_descriptor(end.string())) return end.string();
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(end, failure))) return end.string();
    const auto next = std::filesystem::read_symlink(end, failure);
    if (failure) return error(path + ": cannot follow the link (" + failure.message() + ")");
    end = end.parent_path() / next;  // an absolute path takes the place of the first
  }
  return error(path + ": cannot follow the link (it leads back to itself)");
}

// Opens what is no regular file. To open a FIFO waits for whoever reads it.
Result<int> open_special(const std::string& path, bool is_fifo) {
  const auto until = std::chrono::steady_clock::now() + kWaitForReader;
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (is_fifo ? O_NONBLOCK : 0));
    if (descriptor >= 0) {
      if (is_fifo) static_cast<void>(::fcntl(descriptor, F_SETFL, O_WRONLY));
      return descriptor;
    }
    if (!is_fifo || errno != ENXIO) return error(path + ": cannot open (" + errno_text() + ")");
    if (std::chrono::steady_clock::now() > until) {
      return error(path + ": this is a FIFO that no process reads. Start the reader first.");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// The name that AtomicFile gives it.
std::string temporary_of(const std::string& path) { return path + ".tmp-" + std::to_string(::getpid()); }

// Gives the file that will replace `path` its mode and, as far as this user may, its owner.
void take_after(const std::string& path, bool owner_only) {
  struct stat found {};
  const bool is_there = ::stat(path.c_str(), &found) == 0;
  if (!is_there && !owner_only) return;
  const auto unfinished = temporary_of(path);
  // The owner is set before the mode, because another owner takes some bits of it away.
  if (is_there) static_cast<void>(::chown(unfinished.c_str(), found.st_uid, found.st_gid) == 0);
  const mode_t mode = is_there ? found.st_mode & 0777 : 0600;
  static_cast<void>(::chmod(unfinished.c_str(), owner_only ? mode & 0700 : mode) == 0);
}

Result<void> write_and_close(int descriptor, const std::string& path, std::string_view content) {
  const bool whole = write_all(descriptor, content);
  const int problem = errno;
  if (::close(descriptor) == 0 && whole) return {};
  return error(path + ": cannot write (" + std::generic_category().message(whole ? errno : problem) + ")");
}

}  // namespace

std::optional<int> named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = 0;
    const char* end = path.data() + path.size();
    const auto read = std::from_chars(path.data() + folder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number >= 0) return number;
  }
  return std::nullopt;
}

bool is_standard_output(const std::string& path) {
  const auto end = end_of_links(path);
  return end && named_descriptor(*end) == STDOUT_FILENO;
}

bool is_writable_folder(const std::string& path) {
  std::error_code failure;
  auto folder = std::filesystem::absolute(path, failure);
  while (!std::filesystem::exists(folder, failure) && folder.has_relative_path())
    folder = folder.parent_path();
  return std::filesystem::is_directory(folder, failure) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

Result<void> write_named_file(const std::string& path, std::string_view content, bool owner_only) {
  const auto end = end_of_links(path);
  if (!end) return end.error();
  if (const auto descriptor = named_descriptor(*end)) {
    std::fflush(nullptr);  // what was printed before comes before
    if (write_all(*descriptor, content)) return {};
    return error(path + ": cannot write (" + errno_text() + ")");
  }
  struct stat found {};
  const bool is_there = ::stat(end->c_str(), &found) == 0;
  if (end->empty() || end->ends_with('/') || (is_there && S_ISDIR(found.st_mode))) {
    return error("'" + path + "' is a folder; name a file.");
  }
  if (is_there && !S_ISREG(found.st_mode)) {
    const auto opened = open_special(*end, S_ISFIFO(found.st_mode));
    if (!opened) return opened.error();
    return write_and_close(*opened, path, content);
  }
  // A file that may be written, in a folder where none may be made.
  if (is_there && !owner_only && !is_writable_folder(folder_of(*end))) {
    const int descriptor = ::open(end->c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (descriptor < 0) return error(path + ": cannot open (" + errno_text() + ")");
    return write_and_close(descriptor, path, content);
  }
  auto file = AtomicFile::create(*end);
  if (!file) return file.error();
  take_after(*end, owner_only);
  if (auto written = file->append(content); !written) return written;
  return file->move_into_place();
}

}  // namespace hyfreedp
