#include "harness/trial/build.h"

#include <tuple>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::trial {
namespace {

constexpr std::string_view kDirty = "-dirty";  // as base/version.h marks it
constexpr std::size_t kDigits = 16;

}  // namespace

bool Build::operator<(const Build& other) const {
  return std::tie(version, commit, dirty, worker) <
         std::tie(other.version, other.commit, other.dirty, other.worker);
}

std::string Build::text() const {
  std::vector<std::string> parts{version.empty() ? "an unknown version" : version};
  if (!commit.empty()) parts.push_back("commit " + commit + (dirty ? " with changes" : ""));
  parts.push_back(worker.empty() ? "worker not recorded" : "worker " + worker);
  return join(parts, ", ");
}

Build build_of(const json::object& fingerprint) {
  Build build{.version = string_or(fingerprint, "version", ""),
              .commit = string_or(fingerprint, "commit", ""),
              .worker = string_or(fingerprint, "worker", "")};
  build.dirty = build.commit.ends_with(kDirty);
  if (build.dirty) build.commit.resize(build.commit.size() - kDirty.size());
  return build;
}

json::object without_commit(json::object fingerprint) {
  fingerprint.erase("commit");
  return fingerprint;
}

std::string program_hash(const std::string& path) {
  const auto hash = sha256_of_file(path);
  return hash ? hash->substr(0, kDigits) : "";
}

}  // namespace hyfreedp::trial
