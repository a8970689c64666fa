#include "harness/training/worker/inbox.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "harness/trial/worker_protocol.h"

namespace hyfreedp::worker {
namespace {

Message parse(const std::string& line) {
  auto message = trial::parse_message(line, "standard input");
  if (!message) return {{}, message.error().message};
  return {std::move(*message), ""};
}

}  // namespace

Inbox::Inbox() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaddset(&set, signal);  // under nohup
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  HYFREEDP_CHECK(signals_ >= 0 && wake_ >= 0, "the system gives no descriptors");
  reader_ = std::thread([this] { read_all(); });
}

Inbox::~Inbox() {
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) == sizeof one) reader_.join();
  ::close(signals_);
  ::close(wake_);
}

std::optional<Message> Inbox::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || !messages_.empty(); });
  if (stopping_) return std::nullopt;
  auto message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void Inbox::read_all() {
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
  for (;;) {
    if (::poll(sources, std::size(sources), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (sources[1].revents != 0 || sources[2].revents != 0) break;
    if (sources[0].revents != 0 && !read_some()) break;
  }
  stop();
}

bool Inbox::read_some() {
  char buffer[65536];
  const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR;
  if (got == 0) return false;
  partial_.append(buffer, static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (auto end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', begin)) {
    accept(partial_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return !stopping_;
}

void Inbox::accept(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  auto message = parse(line);
  if (message.problem.empty() && message.object.at("type") == "stop") {
    stop();
    return;
  }
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(message));
  changed_.notify_all();
}

void Inbox::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

}  // namespace hyfreedp::worker
