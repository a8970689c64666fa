#include <fmt/format.h>
#include <utility>

#include "harness/runner/executors/local_executor.h"

namespace hyfreedp::runner {

Result<ProgramEnd> run_worker(const std::string& path, ProgramCall call) {
  call.program = path;
  call.with = worker_environment();
  return run_program(call);
}

Result<void> check_device(const std::string& path, const std::string& device) {
  const auto end = run_worker(path, {.program = {}, .arguments = {"--check-device", device}});
  if (!end) return end.error();
  if (end->exit_code == 0) return {};
  const auto said = end->last_words();
  return error(said.empty() ? fmt::format("The worker at {} cannot train on '{}'.", path, device) : said);
}

}  // namespace hyfreedp::runner
