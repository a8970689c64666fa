#include "harness/random/key_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <openssl/crypto.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/files.h"

namespace hyfreedp::random {
namespace {

constexpr std::string_view kFirstLine = "hyfreedp key 1\n";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kFileSize = kFirstLine.size() + kDigits + 1;

std::string folder_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Error system_error(const std::string& path, const std::string& what) {
  return error(path + ": cannot " + what + " the run's key (" + std::strerror(errno) + ")");
}

std::string to_text(const Key& key) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text(kFirstLine);
  text.reserve(kFileSize);
  for (const unsigned char byte : key.bytes) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text += '\n';
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

std::optional<Key> from_text(std::string_view text) {
  if (text.size() != kFileSize || !text.starts_with(kFirstLine) || text.back() != '\n') return std::nullopt;
  text.remove_prefix(kFirstLine.size());
  Key key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return key;
}

// Empty when there is no such file.
Result<std::optional<Key>> read_key(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    if (errno == ENOENT) return std::optional<Key>{};
    return system_error(path, "open");
  }
  struct stat status {};
  char buffer[kFileSize + 1];
  const bool known = ::fstat(descriptor, &status) == 0;
  const auto got = known ? ::read(descriptor, buffer, sizeof buffer) : -1;
  const auto failure = system_error(path, "read");
  ::close(descriptor);
  if (got < 0) return failure;
  const auto key = from_text(std::string_view(buffer, static_cast<std::size_t>(got)));
  OPENSSL_cleanse(buffer, sizeof buffer);
  if (!key) {
    return error(
        path +
        " is not a key file of this program, so the run it belongs to cannot be continued. Remove the "
        "file and start that run afresh (--fresh), which is a new release.");
  }
  if ((status.st_mode & 077) != 0) {
    return error(path + " holds a run's key but others may read it. Run: chmod 600 '" + path +
                 "', or remove the file and start that run afresh (--fresh) if somebody may have read it.");
  }
  return std::optional<Key>{*key};
}

Result<void> write_new_file(const std::string& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return system_error(path, "create the file for");
  const bool written =
      ::fchmod(descriptor, 0600) == 0 &&
      ::write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fsync(descriptor) == 0;
  const auto failure = system_error(path, "write");
  ::close(descriptor);
  if (!written) return failure;
  return {};
}

// link() never replaces an existing file, so that of two processes starting at once one wins and
// both use its key.
Result<void> publish(const std::string& path, const Key& key) {
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  std::string text = to_text(key);
  const auto written = write_new_file(temporary, text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!written) {
    ::unlink(temporary.c_str());
    return written.error();
  }
  const bool linked = ::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const auto failure = system_error(path, "put in place");
  ::unlink(temporary.c_str());
  if (!linked) return failure;
  return {};
}

}  // namespace

Result<Key> create_or_read_key(const std::string& path) {
  auto existing = read_key(path);
  if (!existing) return existing.error();
  if (!*existing) {
    auto fresh = key_from_entropy();
    if (!fresh) return fresh.error();
    const auto folder = make_folders(folder_of(path));
    if (!folder) return folder.error();
    if (const auto published = publish(path, *fresh); !published) return published.error();
    existing = read_key(path);
    if (!existing) return existing.error();
    if (!*existing)
      return error(path + ": the run's key vanished while it was being written. Run the command again.");
  }
  // Also after a read: the process that wrote the file may have died before it synced the folder.
  if (const auto synced = sync_folder(folder_of(path)); !synced) return synced.error();
  return **existing;
}

Result<void> delete_key(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return system_error(path, "delete");
  }
  return sync_folder(folder_of(path));
}

}  // namespace hyfreedp::random
