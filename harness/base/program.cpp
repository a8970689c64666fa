#include "harness/base/program.h"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/start_dir.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "harness/base/named_file.h"
#include "harness/base/split.h"

namespace hyfreedp {

namespace fs = std::filesystem;

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code ignored;
    const auto candidate = fs::absolute(fs::path(folder.empty() ? "." : folder) / name, ignored);
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
  }
  return std::nullopt;
}

namespace {

// A program that ends before it has read everything must not end this one by the signal of a broken
// pipe, which goes to the thread that writes.
void write_input(boost::process::pipe& pipe, const std::string& input) {
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, nullptr);
  (void)write_all(pipe.native_sink(), input);
  pipe.close();
}

}  // namespace

std::string ProgramEnd::last_words() const {
  auto lines = split(errors, '\n');
  std::erase(lines, "");
  return lines.empty() ? "" : std::string(lines.back());
}

Result<ProgramEnd> run_program(const ProgramCall& call) {
  namespace process = boost::process;
  const bool is_path = call.program.find('/') != std::string::npos;
  const auto path = is_path ? call.program : find_program(call.program);
  if (!path) return error("the program " + call.program + " is not installed.");
  process::environment variables = boost::this_process::environment();
  for (const auto& name : call.without) variables.erase(name);
  for (const auto& [name, value] : call.with) variables[name] = value;
  const auto folder = call.folder.empty() ? std::string(".") : call.folder;
  const auto file = call.output.empty() ? std::string("/dev/null") : call.output;
  process::pipe input;
  process::ipstream output, errors;
  std::error_code failure;
  const auto start = [&](auto&& said) {
    return process::child(*path, process::args = call.arguments, variables, process::start_dir = folder,
                          process::std_in<input, said, process::std_err> errors, failure);
  };
  auto child = call.on_output ? start(process::std_out > output) : start(process::std_out > file);
  if (failure) return error("the program " + *path + " cannot be started (" + failure.message() + ").");
  ProgramEnd end;
  {
    const std::jthread writer([&] { write_input(input, call.input); });
    const std::jthread listener([&] {
      for (std::string line; std::getline(errors, line);) {
        end.errors += line;
        if (!errors.eof()) end.errors += '\n';
        if (call.on_errors) call.on_errors(line);
      }
    });
    if (call.on_output) {
      for (std::string line; std::getline(output, line) && call.on_output(line);) {
      }
      output.pipe().close();
    }
  }
  child.wait(failure);
  end.exit_code = child.exit_code();
  if (failure) return error(*path + ": its end was missed (" + failure.message() + ").");
  return end;
}

Result<void> must_succeed(const ProgramCall& call) {
  const auto end = run_program(call);
  if (!end) return end.error();
  if (end->exit_code == 0) return {};
  return error(call.program + " failed: " + end->errors);
}

}  // namespace hyfreedp
