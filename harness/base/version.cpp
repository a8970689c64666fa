#include "harness/base/version.h"

#include <fmt/format.h>

namespace hyfreedp {
namespace {

std::string& build_commit() {
  static std::string commit;
  return commit;
}

}  // namespace

std::string program_version() {
  const auto& commit = build_commit();
  return fmt::format("{} (comparability {}{}{})", kVersion, kComparabilityVersion,
                     commit.empty() ? "" : ", commit ", commit);
}

void set_build_commit(const std::string& commit) { build_commit() = commit; }

}  // namespace hyfreedp
