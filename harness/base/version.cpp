#include "harness/base/version.h"

#include <fmt/format.h>

namespace hyfreedp {
namespace {

std::string& said_commit() {
  static std::string commit;
  return commit;
}

}  // namespace

std::string program_version() {
  const auto& commit = said_commit();
  return fmt::format("{} (comparability {}{}{})", kVersion, kComparabilityVersion,
                     commit.empty() ? "" : ", commit ", commit);
}

void set_build_commit(const std::string& commit) { said_commit() = commit; }

std::string build_commit() { return said_commit(); }

}  // namespace hyfreedp
