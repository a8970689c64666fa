#include "harness/base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <openssl/evp.h>
#include <pwd.h>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace hyfreedp {

std::string errno_text() { return std::strerror(errno); }

std::string folder_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<std::string> read_file(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return error(path + ": cannot read (it is a folder)");
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(path + ": cannot open (" + errno_text() + ")");
  std::ostringstream content;
  content << in.rdbuf();
  if (in.bad()) return error(path + ": cannot read (" + errno_text() + ")");
  return std::move(content).str();
}

Result<void> make_folders(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return error(path + ": cannot make the folder (" + code.message() + ")");
  return {};
}

Result<void> make_private_folder(const std::string& path) {
  if (auto made = make_folders(std::filesystem::path(path).parent_path().string()); !made) return made;
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  const auto problem = errno;
  struct stat found {};
  const bool ours = problem == EEXIST && ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                    found.st_uid == ::geteuid() && ::chmod(path.c_str(), 0700) == 0;
  if (ours) return {};
  return error(
      path +
      (problem == EEXIST
           ? ": the path is a link, a file or another user's folder; a folder of this user's own is needed"
           : ": cannot make the folder (" + std::generic_category().message(problem) + ")"));
}

Result<void> make_closed_folder(const std::string& path) {
  auto made = make_folders(path);
  if (made) static_cast<void>(::chmod(path.c_str(), 0700));
  return made;
}

Result<std::vector<std::filesystem::path>> entries_of(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failure;
  if (std::filesystem::symlink_status(folder, failure).type() == std::filesystem::file_type::not_found)
    return paths;
  std::filesystem::directory_iterator entry(folder, failure);
  for (const std::filesystem::directory_iterator end; !failure && entry != end; entry.increment(failure))
    paths.push_back(entry->path());
  if (failure) return error(folder + ": cannot read the folder (" + failure.message() + ")");
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<void> remove_folder(const std::string& path) {
  std::error_code failure;
  std::filesystem::remove_all(path, failure);
  if (failure) return error(path + ": cannot remove the folder (" + failure.message() + ")");
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return error(path + ": cannot open the folder (" + errno_text() + ")");
  const int status = ::fsync(descriptor);
  ::close(descriptor);
  if (status != 0) return error(path + ": cannot sync the folder (" + errno_text() + ")");
  return {};
}

Result<AtomicFile> AtomicFile::create(const std::string& path, unsigned mode) {
  if (auto made = make_folders(folder_of(path)); !made) return made.error();
  AtomicFile file(path, -1);
  file.descriptor_ =
      ::open(file.temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, static_cast<mode_t>(mode));
  if (file.descriptor_ < 0) return error(file.temporary() + ": cannot create (" + errno_text() + ")");
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary().c_str());
}

std::string AtomicFile::temporary() const { return path_ + ".tmp-" + std::to_string(::getpid()); }

Result<void> AtomicFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return error(temporary() + ": cannot write (" + errno_text() + ")");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::move_into_place() {
  if (::fsync(descriptor_) != 0) return error(temporary() + ": cannot sync (" + errno_text() + ")");
  if (::rename(temporary().c_str(), path_.c_str()) != 0) {
    return error(path_ + ": cannot move the finished file into place (" + errno_text() + ")");
  }
  ::close(std::exchange(descriptor_, -1));
  return sync_folder(folder_of(path_));
}

Result<void> write_file_atomically(const std::string& path, std::string_view content, unsigned mode) {
  auto file = AtomicFile::create(path, mode);
  if (!file) return file.error();
  if (auto written = file->append(content); !written) return written;
  return file->move_into_place();
}

namespace {

// The folder that `variable` names, or `otherwise` in the user's home. Without HOME that is what
// the system knows as the home: where everybody may write, somebody could have put files.
std::string users_folder(const char* variable, const char* otherwise) {
  if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0') {
    return std::string(folder) + "/hyfreedp";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const auto* user = ::getpwuid(::geteuid());
    home = user != nullptr ? user->pw_dir : "/nonexistent";
  }
  return std::string(home) + otherwise + "/hyfreedp";
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const std::string& parent) {
  std::error_code failed;
  const auto folder = parent.empty() ? std::filesystem::temp_directory_path(failed)
                                     : std::filesystem::absolute(parent, failed);
  const char* advice =
      parent.empty() ? "Set TMPDIR to a folder that may be written to." : "Give one that may be written to.";
  if (failed) return error(std::string("there is no folder for temporary files. ") + advice);
  if (auto made = make_folders(folder.string()); !made) return made.error();
  auto pattern = (folder / ".hyfreedp-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return error(folder.string() + ": no folder can be made in it (" + errno_text() + "). " + advice);
  }
  return ScratchFolder(pattern);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string cache_folder() { return users_folder("XDG_CACHE_HOME", "/.cache"); }
std::string state_folder() { return users_folder("XDG_STATE_HOME", "/.local/state"); }

namespace {

EVP_MD_CTX* digest_in(const std::shared_ptr<void>& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(), [](void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); }) {
  // Fetched once: EVP_sha256() is looked up by name at each use.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  HYFREEDP_CHECK(context_ != nullptr && EVP_DigestInit_ex(digest_in(context_), kSha256, nullptr) == 1,
                 "OpenSSL has no SHA-256");
}

void Sha256::add(std::string_view bytes) {
  HYFREEDP_CHECK(EVP_DigestUpdate(digest_in(context_), bytes.data(), bytes.size()) == 1,
                 "OpenSSL has no SHA-256");
}

std::string Sha256::hex() {
  static constexpr char kHex[] = "0123456789abcdef";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  HYFREEDP_CHECK(EVP_DigestFinal_ex(digest_in(context_), digest, &length) == 1, "OpenSSL has no SHA-256");
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) {
    hex += kHex[digest[i] >> 4];
    hex += kHex[digest[i] & 15];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(path + ": the file cannot be read.");
  Sha256 sum;
  std::vector<char> piece(std::size_t{1} << 20);
  do {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  } while (file);
  if (!file.eof()) return error(path + ": the file cannot be read to its end.");
  return sum.hex();
}

}  // namespace hyfreedp
