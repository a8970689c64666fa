#include "harness/training/worker/outbox.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace hyfreedp::worker {

Outbox::Outbox() {
  std::signal(SIGPIPE, SIG_IGN);
  descriptor_ = ::dup(STDOUT_FILENO);
  HYFREEDP_CHECK(descriptor_ >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0,
                 "standard output is not open");
}

Outbox::~Outbox() { ::close(descriptor_); }

bool Outbox::send(const json::object& message) {
  const auto line = canonical_json(message) + "\n";
  const std::lock_guard lock(mutex_);
  for (std::size_t sent = 0; sent < line.size();) {
    const auto written = ::write(descriptor_, line.data() + sent, line.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    sent += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace hyfreedp::worker
