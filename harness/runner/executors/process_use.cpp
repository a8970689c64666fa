#include "harness/runner/executors/process_use.h"

#include <fstream>
#include <sstream>
#include <unistd.h>

namespace hyfreedp::runner {
namespace {

// Reads "pid (name) state ppid ...": the name may hold spaces and parentheses.
std::optional<double> cpu_seconds_in(const std::string& stat) {
  const auto close = stat.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(close + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  double user = 0, system = 0;
  if (!(rest >> user >> system)) return std::nullopt;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::optional<ProcessUse> process_use(int process, const std::string& root) {
  const auto folder = root + "/" + std::to_string(process);
  std::ifstream stat(folder + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return std::nullopt;
  const auto cpu = cpu_seconds_in(line);
  if (!cpu) return std::nullopt;
  ProcessUse use{.cpu_seconds = *cpu};
  std::ifstream status(folder + "/status");
  while (std::getline(status, line)) {
    std::istringstream words(line);
    std::string name;
    double kilobytes = 0;
    if (!(words >> name >> kilobytes)) continue;
    if (name == "VmRSS:") use.resident_bytes = 1024 * kilobytes;
    if (name == "RssAnon:") use.own_bytes = 1024 * kilobytes;
  }
  return use;
}

}  // namespace hyfreedp::runner
