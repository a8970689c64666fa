#include "datasets/fetch/part_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {
namespace {

std::string version_path(const std::string& part) { return part + ".json"; }

PartVersion read_version(const std::string& part) {
  std::error_code ignored;
  if (!std::filesystem::exists(version_path(part), ignored)) return {};
  const auto value = read_json_file(version_path(part));
  if (!value || !value->is_object()) return {};
  const auto text = [&](const char* key) { return get_string(value->get_object(), key, ""); };
  const auto url = text("url"), etag = text("etag"), modified = text("last_modified");
  if (!url || !etag || !modified) return {};
  return {*url, *etag, *modified};
}

// True if the path still names the opened file: another process may have finished and renamed it
// between the opening and the lock.
bool is_still(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

std::string PartVersion::validator() const {
  return !etag.empty() && !etag.starts_with("W/") ? etag : last_modified;
}

PartFile::PartFile(std::string path, int descriptor)
    : path_(std::move(path)), part_(path_ + ".part"), descriptor_(descriptor) {
  const auto end = ::lseek(descriptor_, 0, SEEK_END);
  size_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
  version_ = read_version(part_);
}

PartFile::~PartFile() { ::close(descriptor_); }

Result<std::unique_ptr<PartFile>> PartFile::open(const std::string& path) {
  if (auto made = make_folders(std::filesystem::absolute(path).parent_path().string()); !made)
    return made.error();
  const std::string part = path + ".part";
  while (true) {
    const int descriptor = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor < 0) {
      return error(
          fmt::format("{}: cannot be made ({}). Give a folder that may be written.", part, strerror(errno)));
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor);
      return error(part + ": another process is fetching this file. Wait until it is done.");
    }
    if (is_still(descriptor, part)) return std::unique_ptr<PartFile>(new PartFile(path, descriptor));
    ::close(descriptor);
  }
}

Error PartFile::disk(const char* what) const {
  const int code = errno;
  if (code == ENOSPC || code == EDQUOT) {
    return error(fmt::format(
        "{}: the disk is full ({}) after {} bytes. Make room and run the same command again; it goes on "
        "from there.",
        part_, std::strerror(code), size_));
  }
  return error(fmt::format("{}: {} after {} bytes ({}). Run the same command again when that is mended.",
                           part_, what, size_, std::strerror(code)));
}

Result<void> PartFile::restart(const PartVersion& version) {
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0)
    return disk("cannot be emptied");
  size_ = 0;
  version_ = version;
  return write_file_atomically(
      version_path(part_),
      canonical_json(json::object{
          {"url", version.url}, {"etag", version.etag}, {"last_modified", version.last_modified}}));
}

Result<void> PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return disk("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> PartFile::finish() {
  if (::fsync(descriptor_) != 0) return disk("cannot be synced");
  if (::rename(part_.c_str(), path_.c_str()) != 0) return disk("cannot be renamed into place");
  ::unlink(version_path(part_).c_str());
  return sync_folder(std::filesystem::absolute(path_).parent_path().string());
}

}  // namespace hyfreedp::datasets
