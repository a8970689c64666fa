#include "harness/base/file_lock.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace hyfreedp {

Result<std::unique_ptr<FileLock>> FileLock::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return error(path + ": cannot create the lock file (" + std::strerror(errno) + ")");
  auto lock = std::make_unique<FileLock>(descriptor);
  // Asked for again and again: a thread that sleeps in one call looks as if it hung
  // (harness/training/worker/heartbeat.h).
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } else if (errno != EINTR) {
      return error(path + ": cannot lock (" + std::strerror(errno) + ")");
    }
  }
  return lock;
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace hyfreedp
