#include "harness/mechanism/journal_line.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"

namespace hyfreedp::mechanism {
namespace {

std::string checksum_after(const std::string& previous, std::string_view text) {
  return sha256_hex(previous + std::string(text)).substr(0, 16);
}

// JSON may have a number, such as 1e999, that reads as infinity. No line is written with one.
bool is_finite(const json::value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::ranges::all_of(value.get_array(), is_finite);
  if (!value.is_object()) return true;
  return std::ranges::all_of(value.get_object(),
                             [](const auto& member) { return is_finite(member.value()); });
}

// The member is put last by hand, so that the text it covers is the line's own beginning.
constexpr std::string_view kMember = ",\"c\":\"";
constexpr std::size_t kTail = kMember.size() + 16 + 2;  // ,"c":"0123456789abcdef"}

}  // namespace

SealedLine seal_line(const json::object& object, const std::string& previous) {
  std::string text = canonical_json(object);
  auto checksum = checksum_after(previous, text);
  text.pop_back();
  text += std::string(kMember) + checksum + "\"}";
  return {std::move(text), std::move(checksum)};
}

Result<OpenedLine> open_line(std::string_view line, const std::string& previous) {
  if (line.size() <= kTail || line.substr(line.size() - kTail, kMember.size()) != kMember ||
      !line.ends_with("\"}")) {
    return error("the line carries no checksum");
  }
  const std::string text = std::string(line.substr(0, line.size() - kTail)) + "}";
  const std::string checksum(line.substr(line.size() - 18, 16));
  if (checksum_after(previous, text) != checksum) return error("the line's checksum is wrong");
  auto value = parse_json(text, "journal");
  if (!value) return value.error();
  if (!value->is_object()) return error("the line is not an object");
  if (!is_finite(*value)) return error("the line has a number that is too large");
  return OpenedLine{std::move(value->get_object()), checksum};
}

int sync_data(int descriptor) { return ::fdatasync(descriptor) == 0 ? 0 : errno; }

struct JournalFile::State {
  std::string path;
  SyncCall sync;
  int descriptor = -1;
  std::string checksum;

  // The background syncer. `synced` follows `wanted` once an fdatasync that began after it was set
  // is over.
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t wanted = 0;
  std::int64_t synced = 0;
  bool leaving = false;
  std::string failure;
  std::thread syncer;

  ~State() {
    {
      const std::lock_guard lock(mutex);
      leaving = true;
    }
    changed.notify_all();
    if (syncer.joinable()) syncer.join();
    if (descriptor >= 0) ::close(descriptor);
  }

  Result<void> write(std::string_view rest) const {
    while (!rest.empty()) {
      const auto written = ::write(descriptor, rest.data(), rest.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return error(path + ": cannot write the journal (" + std::strerror(errno) + ")");
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<void> sync_now() const {
    const int failed = sync(descriptor);
    if (failed == 0) return {};
    return error(path + ": cannot sync the journal (" + std::strerror(failed) + ")");
  }

  void run_syncer() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return leaving || wanted > synced; });
      if (wanted <= synced) return;
      const auto target = wanted;
      lock.unlock();
      auto outcome = sync_now();
      lock.lock();
      // A failure is final: what the disk holds is unknown from here on, and every later wait says
      // so.
      if (!outcome && failure.empty()) failure = outcome.error().message;
      synced = target;
      changed.notify_all();
    }
  }
};

JournalFile::JournalFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
JournalFile::JournalFile(JournalFile&&) noexcept = default;
JournalFile& JournalFile::operator=(JournalFile&&) noexcept = default;
JournalFile::~JournalFile() = default;

Result<JournalFile> JournalFile::open(const std::string& path, SyncCall sync) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) {
    if (auto made = make_folders(folder); !made) return made.error();
  }
  auto state = std::make_unique<State>();
  state->path = path;
  state->sync = std::move(sync);
  state->descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (state->descriptor < 0) return error(path + ": cannot open the journal (" + std::strerror(errno) + ")");
  if (::flock(state->descriptor, LOCK_EX | LOCK_NB) != 0) {
    return error(path + ": another process is writing this journal");
  }
  if (auto synced = sync_folder(folder.empty() ? "." : folder); !synced) return synced.error();
  return JournalFile(std::move(state));
}

Result<void> JournalFile::resume_after(std::size_t valid_bytes, const std::string& checksum) {
  if (::ftruncate(state_->descriptor, static_cast<off_t>(valid_bytes)) != 0) {
    return error(state_->path + ": cannot cut a torn line (" + std::strerror(errno) + ")");
  }
  state_->checksum = checksum;
  char last = '\n';
  if (valid_bytes > 0 && ::pread(state_->descriptor, &last, 1, static_cast<off_t>(valid_bytes - 1)) != 1) {
    return error(state_->path + ": cannot read the journal's end (" + std::strerror(errno) + ")");
  }
  return last == '\n' ? Result<void>{} : state_->write("\n");
}

const std::string& JournalFile::checksum() const { return state_->checksum; }

Result<void> JournalFile::append(const json::object& line) {
  auto sealed = seal_line(line, state_->checksum);
  if (auto written = state_->write(sealed.text + "\n"); !written) return written;
  state_->checksum = std::move(sealed.checksum);
  return {};
}

Result<void> JournalFile::sync() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->synced >= state_->wanted; });
  if (!state_->failure.empty()) return error(state_->failure);
  return state_->sync_now();
}

void JournalFile::sync_in_background(std::int64_t mark) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->wanted = mark;
    if (!state_->syncer.joinable())
      state_->syncer = std::thread([state = state_.get()] { state->run_syncer(); });
  }
  state_->changed.notify_all();
}

Result<void> JournalFile::wait_until_synced(std::int64_t mark) {
  std::unique_lock lock(state_->mutex);
  // Marks asked for by an earlier process are on disk already; nothing is wanted then.
  state_->changed.wait(lock, [&] { return state_->synced >= mark || state_->synced >= state_->wanted; });
  if (!state_->failure.empty()) return error(state_->failure);
  return {};
}

Result<void> JournalFile::check_in_place() const {
  struct stat open = {};
  struct stat named = {};
  const bool is_there = ::fstat(state_->descriptor, &open) == 0 && ::stat(state_->path.c_str(), &named) == 0;
  if (is_there && open.st_dev == named.st_dev && open.st_ino == named.st_ino) return {};
  return error(state_->path +
               ": the journal was removed or replaced while its run went on, so the run does not count as "
               "finished. It is charged whole, and the next hyfreedp run begins it anew.");
}

Result<void> JournalFile::restart_marks() {
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->synced >= state_->wanted; });
    state_->synced = state_->wanted = 0;
  }
  return sync();
}

}  // namespace hyfreedp::mechanism
