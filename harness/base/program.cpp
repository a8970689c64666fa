#include "harness/base/program.h"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/start_dir.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <unistd.h>

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

Result<ProgramEnd> run_program(const ProgramCall& call) {
  namespace process = boost::process;
  const bool is_path = call.program.find('/') != std::string::npos;
  const auto path = is_path ? call.program : find_program(call.program);
  if (!path) return error("the program " + call.program + " is not installed.");
  process::environment variables = boost::this_process::environment();
  for (const auto& name : call.without) variables.erase(name);
  const auto folder = call.folder.empty() ? std::string(".") : call.folder;
  const auto output = call.output.empty() ? std::string("/dev/null") : call.output;
  process::ipstream errors;
  std::error_code failure;
  process::child child(*path, process::args = call.arguments, variables, process::start_dir = folder,
                       process::std_in<process::null, process::std_out> output, process::std_err > errors,
                       failure);
  if (failure) return error("the program " + *path + " cannot be started (" + failure.message() + ").");
  ProgramEnd end;
  end.errors.assign(std::istreambuf_iterator<char>(errors), {});
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
