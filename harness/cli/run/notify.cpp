#include "harness/cli/run/notify.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace hyfreedp::cli {
namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::milliseconds kGrace{500};  // between SIGTERM and SIGKILL

struct SpawnSettings {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

  SpawnSettings() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    // A process group of its own, so that it can be stopped with what it started.
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Whether the process has ended within `patience`.
bool ended_within(pid_t process, std::chrono::milliseconds patience, int& status) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto waited = ::waitpid(process, &status, WNOHANG);
    if (waited == process || (waited < 0 && errno != EINTR)) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

Result<void> run_notify(const std::string& command, const std::map<std::string, std::string>& variables,
                        std::chrono::milliseconds patience) {
  std::vector<std::string> words = {"sh", "-c", command};
  auto environment = environment_with(variables);
  const SpawnSettings settings;
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, "/bin/sh", &settings.files, &settings.attributes,
                                   pointers_to(words).data(), pointers_to(environment).data());
  if (failed != 0) return error(fmt::format("--notify could not be run ({}).", std::strerror(failed)));
  int status = 0;
  if (!ended_within(process, patience, status)) {
    ::kill(-process, SIGTERM);
    const bool ended = ended_within(process, kGrace, status);
    ::kill(-process, SIGKILL);
    if (!ended) ::waitpid(process, &status, 0);
    return error(fmt::format("--notify had not ended after {} s and was stopped.",
                             std::chrono::duration<double>(patience).count()));
  }
  if (WIFSIGNALED(status)) {
    return error(fmt::format("--notify was ended by signal {} ({}).", WTERMSIG(status),
                             ::strsignal(WTERMSIG(status))));
  }
  if (WEXITSTATUS(status) != 0)
    return error(fmt::format("--notify ended with exit code {}.", WEXITSTATUS(status)));
  return {};
}

}  // namespace hyfreedp::cli
