#include "harness/runner/odometer/out_folder.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"

namespace hyfreedp::runner {
namespace {

constexpr std::chrono::milliseconds kRetry{50};
constexpr int kRetries = 200;  // ten seconds for the workers of a killed coordinator to be gone

int recorded_process(int descriptor) {
  std::array<char, 32> text{};
  const auto bytes = ::pread(descriptor, text.data(), text.size(), 0);
  int number = 0;
  if (bytes > 0) std::from_chars(text.data(), text.data() + bytes, number);
  return number;
}

// True if another process holds the lock.
bool is_locked(int descriptor) { return ::flock(descriptor, LOCK_SH | LOCK_NB) != 0; }

bool is_alive(int number) { return number > 0 && (::kill(number, 0) == 0 || errno == EPERM); }

}  // namespace

std::string OutFolder::database() const { return root + "/hyfreedp.sqlite"; }
std::string OutFolder::journals() const { return root + "/journals"; }
std::string OutFolder::keys() const { return root + "/keys"; }
std::string OutFolder::journal(const std::string& trial) const { return journals() + "/" + trial + ".jsonl"; }
std::string OutFolder::key(const std::string& trial) const { return keys() + "/" + trial + ".key"; }
std::string OutFolder::all_checkpoints() const { return root + "/checkpoints"; }
std::string OutFolder::checkpoints(const std::string& trial) const { return all_checkpoints() + "/" + trial; }
std::string OutFolder::draw_key(const std::string& spec) const { return keys() + "/" + spec + ".draws.key"; }
std::string OutFolder::release_record(const std::string& spec) const {
  return journals() + "/" + spec + ".releases.json";
}
std::string OutFolder::derived(const std::string& spec) const { return root + "/" + spec; }
std::string OutFolder::staged_weights(const std::string& spec) const {
  return root + "/staged-weights/" + spec;
}
std::string OutFolder::requests() const { return root + "/requests"; }
std::string OutFolder::lock() const { return root + "/hyfreedp.lock"; }
std::string OutFolder::progress() const { return root + "/progress.json"; }

std::string close_to_others(const OutFolder& folder) {
  constexpr const char* kWhy =
      "the sizes of its files tell how many runs a private selection makes, and that number must stay secret";
  const auto is_open = [&] {
    struct stat found {};
    return ::stat(folder.root.c_str(), &found) == 0 && (found.st_mode & 077) != 0;
  };
  if (!is_open()) return "";
  static_cast<void>(::chmod(folder.root.c_str(), 0700));
  if (is_open()) {
    return fmt::format(
        "{} is open to other users, and its mode cannot be changed: {}. Use a folder of your own.",
        folder.root, kWhy);
  }
  return fmt::format("{} was open to other users and is its owner's alone now (mode 0700): {}.", folder.root,
                     kWhy);
}

bool is_taken_in_out_folder(const std::string& name) {
  return name == "journals" || name == "keys" || name == "checkpoints" || name == "staged-weights" ||
         name == "requests";
}

Result<FolderLock> FolderLock::acquire(const OutFolder& folder) {
  const bool is_new = !std::filesystem::exists(folder.root);
  if (auto made = is_new ? make_closed_folder(folder.root) : make_folders(folder.root); !made)
    return made.error();
  // O_CLOEXEC is left out on purpose: workers hold the lock, too.
  const int descriptor = ::open(folder.lock().c_str(), O_RDWR | O_CREAT, 0644);
  if (descriptor < 0) return error(folder.lock() + ": cannot open the lock (" + std::strerror(errno) + ")");
  FolderLock lock(descriptor);
  for (int attempt = 0; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return error(folder.lock() + ": cannot lock (" + std::strerror(errno) + ")");
    }
    const int holder = recorded_process(descriptor);
    if (is_alive(holder) || attempt >= kRetries) {
      return error(
          fmt::format("{} is in use by another hyfreedp run (process {}). Wait for it, stop it, or use "
                      "--out DIR.",
                      folder.root, holder));
    }
    std::this_thread::sleep_for(kRetry);
  }
  if (auto whole = lock.hold_folder(folder); !whole) return whole.error();
  const std::string number = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, number.data(), number.size(), 0) < 0) {
    return error(folder.lock() + ": cannot write the lock (" + std::strerror(errno) + ")");
  }
  return lock;
}

// Locks the folder itself, too: if somebody deletes the lock file, another one could be locked.
Result<void> FolderLock::hold_folder(const OutFolder& folder) {
  folder_ = ::open(folder.root.c_str(), O_RDONLY | O_DIRECTORY);
  if (folder_ < 0) return error(folder.root + ": cannot open the folder (" + std::strerror(errno) + ")");
  // Network file systems lock no folders.
  if (::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return error(
      fmt::format("{} is in use by another hyfreedp run, whose lock {} was deleted. Wait for it, stop it, or "
                  "use --out DIR.",
                  folder.root, folder.lock()));
}

std::optional<int> FolderLock::holder(const OutFolder& folder) {
  const int descriptor = ::open(folder.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<int> found;
  if (is_locked(descriptor)) {
    // Workers of a killed coordinator hold it for a moment longer.
    if (const int process = recorded_process(descriptor); is_alive(process)) found = process;
  }
  ::close(descriptor);
  return found;
}

bool FolderLock::is_held(const OutFolder& folder) {
  const int descriptor = ::open(folder.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = is_locked(descriptor);
  ::close(descriptor);
  return held;
}

bool FolderLock::stays_held(const OutFolder& folder) {
  for (int attempt = 0; attempt < kRetries && is_held(folder); ++attempt) {
    if (holder(folder)) return true;
    std::this_thread::sleep_for(kRetry);
  }
  return is_held(folder);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), folder_(std::exchange(other.folder_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(folder_, other.folder_);
  return *this;
}

FolderLock::~FolderLock() {
  for (const int one : {descriptor_, folder_})
    if (one >= 0) ::close(one);
}

}  // namespace hyfreedp::runner
