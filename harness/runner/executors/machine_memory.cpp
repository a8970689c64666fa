#include "harness/runner/executors/machine_memory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();

// "max", and a file that is not there or holds no number, limit nothing.
std::uint64_t limit_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::uint64_t bytes = 0;
  const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), bytes);
  return failure == std::errc() && bytes > 0 ? bytes : kNoLimit;
}

// Returns the least limit of a group and all above it, up to the folder in which groups lie. In a
// container the path may be that of the machine outside, of which only the groups' folder itself is
// there.
std::uint64_t limit_of(const fs::path& groups, const std::string& group, const char* file) {
  auto least = limit_in(groups / file);
  fs::path at = groups;
  for (const auto& part : fs::path(group).relative_path()) {
    if (part == "..") break;
    at /= part;
    least = std::min(least, limit_in(at / file));
  }
  return least;
}

}  // namespace

std::uint64_t machine_memory(const std::string& root) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
  auto least =
      pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : kNoLimit;
  const auto groups = fs::path(root) / "sys/fs/cgroup";
  std::ifstream own(fs::path(root) / "proc/self/cgroup");
  // "NUMBER:CONTROLLERS:PATH"; those of version 2 have no controllers.
  for (std::string line; std::getline(own, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const auto path = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, limit_of(groups, path, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, limit_of(groups / "memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace hyfreedp::runner
