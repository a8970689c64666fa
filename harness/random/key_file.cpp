#include "harness/random/key_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <openssl/crypto.h>
#include <span>
#include <string_view>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"

namespace hyfreedp::random {
namespace {

constexpr std::string_view kDrawsLine = "hyfreedp key 1\n";  // also of runs, up to version 0.6
constexpr std::string_view kRunLine = "hyfreedp key 2\n";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kLongest = 1 << 20;

Error system_error(const std::string& path, const std::string& what) {
  return error(path + ": cannot " + what + " the run's key (" + std::strerror(errno) + ")");
}

std::string to_hex(std::span<const unsigned char> bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string to_text(const Key& key, const std::optional<KeyLabel>& label) {
  std::string text(label ? kRunLine : kDrawsLine);
  text += to_hex(key.bytes);
  text += '\n';
  if (!label) return text;
  return text +
         canonical_json(json::object{{"attempt", label->attempt},
                                     {"config", label->config},
                                     {"nonce", label->nonce},
                                     {"trial", label->trial}}) +
         "\n";
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

std::optional<Key> key_from_hex(std::string_view text) {
  Key key;
  if (text.size() != kDigits) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return key;
}

std::optional<KeyLabel> label_from_text(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  text.remove_suffix(1);
  const auto value = parse_json(std::string(text), "key file");
  if (!value || !value->is_object()) return std::nullopt;
  const auto& object = value->get_object();
  const auto* config = object.if_contains("config");
  const auto attempt = get_int(object, "attempt", "key file");
  KeyLabel label{.nonce = string_or(object, "nonce", ""), .trial = string_or(object, "trial", "")};
  if (!attempt || *attempt < 0 || config == nullptr || !config->is_object() || label.trial.empty()) {
    return std::nullopt;
  }
  const auto* seed = config->get_object().if_contains("noise_seed");
  const bool is_seeded = seed != nullptr && !seed->is_null();
  const bool is_number = is_seeded && label.nonce.starts_with("attempt ");
  if (!is_number && label.nonce.size() != 2 * kNonceBytes) return std::nullopt;
  label.attempt = *attempt;
  label.config = config->get_object();
  return label;
}

std::optional<LabelledKey> from_text(std::string_view text) {
  const bool is_run = text.starts_with(kRunLine);
  if (!is_run && !text.starts_with(kDrawsLine)) return std::nullopt;
  text.remove_prefix(kRunLine.size());
  if (text.size() <= kDigits || text[kDigits] != '\n') return std::nullopt;
  const auto key = key_from_hex(text.substr(0, kDigits));
  if (!key) return std::nullopt;
  text.remove_prefix(kDigits + 1);
  LabelledKey found{.key = *key, .label = is_run ? label_from_text(text) : std::nullopt};
  if (is_run != found.label.has_value() || (!is_run && !text.empty())) return std::nullopt;
  return found;
}

// The whole file, or what `kLongest` takes of it; false where a read failed.
bool read_all(int descriptor, std::string& text) {
  text.resize(kLongest);  // at once: no copy of the key stays behind in a smaller buffer
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return true;
}

Result<std::array<unsigned char, kNonceBytes>> entropy() {
  std::array<unsigned char, kNonceBytes> bytes{};
  ssize_t got;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size())) {
    return error(std::string("The system gives no entropy for a run's nonce (getrandom: ") +
                 std::strerror(errno) + ").");
  }
  return bytes;
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

// In a file beside `path`, synced; its path.
Result<std::string> write_beside(const std::string& path, const Key& key,
                                 const std::optional<KeyLabel>& label) {
  std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  std::string text = to_text(key, label);
  const auto written = write_new_file(temporary, text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!written) {
    ::unlink(temporary.c_str());
    return written.error();
  }
  return temporary;
}

// link() never replaces an existing file, so that of two processes starting at once one wins and
// both use its key.
Result<void> publish(const std::string& path, const Key& key) {
  const auto temporary = write_beside(path, key, std::nullopt);
  if (!temporary) return temporary.error();
  const bool linked = ::link(temporary->c_str(), path.c_str()) == 0 || errno == EEXIST;
  const auto failure = system_error(path, "put in place");
  ::unlink(temporary->c_str());
  if (!linked) return failure;
  return {};
}

}  // namespace

Result<std::optional<LabelledKey>> read_key(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    if (errno == ENOENT) return std::optional<LabelledKey>{};
    return system_error(path, "open");
  }
  struct stat status {};
  std::string text;
  const bool was_read = ::fstat(descriptor, &status) == 0 && read_all(descriptor, text);
  const auto failure = system_error(path, "read");
  ::close(descriptor);
  if (!was_read) return failure;
  auto found = from_text(text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!found) {
    return error(
        path +
        " is not a key file of this program, so what it was made for cannot be continued. Put back an "
        "unchanged copy, or start a new release of the spec (hyfreedp run SPEC --fresh).");
  }
  if ((status.st_mode & 077) != 0) {
    return error(path + " holds a run's key but others may read it. Run: chmod 600 '" + path +
                 "'; if somebody may have read it, start a new release of the spec instead "
                 "(hyfreedp run SPEC --fresh).");
  }
  return std::optional<LabelledKey>(std::move(found));
}

Result<Key> replace_key(const std::string& path, const KeyLabel& label) {
  auto fresh = key_from_entropy();
  if (!fresh) return fresh.error();
  if (const auto folder = make_folders(folder_of(path)); !folder) return folder.error();
  const auto temporary = write_beside(path, *fresh, label);
  if (!temporary) return temporary.error();
  if (::rename(temporary->c_str(), path.c_str()) != 0) {
    const auto failure = system_error(path, "put in place");
    ::unlink(temporary->c_str());
    return failure;
  }
  if (const auto synced = sync_folder(folder_of(path)); !synced) return synced.error();
  return *fresh;
}

Result<std::string> nonce_from_entropy() {
  const auto bytes = entropy();
  if (!bytes) return bytes.error();
  return to_hex(*bytes);
}

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
  if ((**existing).label) {
    return error(path + " is the key of a run (" + (**existing).label->trial + "), not of a spec's draws.");
  }
  return (**existing).key;
}

Result<void> delete_key(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return system_error(path, "delete");
  }
  return sync_folder(folder_of(path));
}

}  // namespace hyfreedp::random
