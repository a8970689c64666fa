#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <fmt/format.h>
#include <vector>

#include "harness/runner/executors/local_executor.h"

namespace hyfreedp::runner {

Result<void> check_device(const std::string& path, const std::string& device) {
  namespace process = boost::process;
  process::environment variables = boost::this_process::environment();
  for (const auto& [name, value] : worker_environment()) variables[name] = value;
  process::ipstream errors;
  std::error_code failure;
  process::child worker(path, process::args = std::vector<std::string>{"--check-device", device}, variables,
                        process::std_in<process::null, process::std_out> process::null,
                        process::std_err > errors, failure);
  if (failure) return error(path + ": the worker cannot be started (" + failure.message() + ").");
  std::string last_words;
  for (std::string line; std::getline(errors, line);) {
    if (!line.empty()) last_words = line;
  }
  worker.wait(failure);
  if (worker.exit_code() == 0) return {};
  return error(last_words.empty() ? fmt::format("The worker at {} cannot train on '{}'.", path, device)
                                  : last_words);
}

}  // namespace hyfreedp::runner
