#include "harness/cli/run/notify.h"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/io.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>

#include "harness/base/program.h"

namespace hyfreedp::cli {
namespace {

namespace process = boost::process;

// The exit code of timeout(1) of the GNU coreutils if it had to stop the command.
constexpr int kTimedOut = 124;

}  // namespace

Result<void> run_notify(const std::string& command, const std::map<std::string, std::string>& variables,
                        std::chrono::milliseconds patience) {
  // It stops the command with its process group: first by SIGTERM, half a second later by SIGKILL,
  // which reaches itself as well.
  const auto timeout = find_program("timeout");
  if (!timeout) return error("--notify could not be run: the program timeout is not installed.");
  const double seconds = std::chrono::duration<double>(patience).count();
  process::environment environment = boost::this_process::environment();
  for (const auto& [name, value] : variables) environment[name] = value;
  std::error_code failure;
  const auto begin = std::chrono::steady_clock::now();
  process::child child(
      *timeout, process::args = {"--kill-after=0.5", std::to_string(seconds), "/bin/sh", "-c", command},
      environment, process::std_in<process::null, process::std_out> stderr, failure);
  if (!failure) child.wait(failure);
  if (failure) return error(fmt::format("--notify could not be run ({}).", failure.message()));
  const int status = child.native_exit_code();
  const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
                          std::chrono::steady_clock::now() - begin >= patience;
  if (was_killed || (WIFEXITED(status) && WEXITSTATUS(status) == kTimedOut))
    return error(fmt::format("--notify had not ended after {} s and was stopped.", seconds));
  if (WIFSIGNALED(status)) {
    return error(fmt::format("--notify was ended by signal {} ({}).", WTERMSIG(status),
                             ::strsignal(WTERMSIG(status))));
  }
  if (WEXITSTATUS(status) == 0) return {};
  return error(fmt::format("--notify ended with exit code {}.", WEXITSTATUS(status)));
}

}  // namespace hyfreedp::cli
