#include "datasets/fetch/unpack.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include "datasets/fetch/record.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

bool fits(const Member& member, const std::string& name) {
  return ::fnmatch(member.path.c_str(), name.c_str(), 0) == 0;
}

Result<void> put(const Member& member, const std::string& name, std::string_view bytes,
                 const std::string& folder, const std::string& from) {
  const auto sha256 = sha256_hex(bytes);
  if (!member.sha256.empty() && sha256 != member.sha256) {
    return error(
        fmt::format("{}: {} has the SHA-256 {}, {} is expected: it is another version. Tell us of it.", from,
                    name, sha256, member.sha256));
  }
  const auto path = folder + "/" + member.name;
  if (auto recorded = write_record(path, {.from = fmt::format("{}, {}", from, name),
                                          .bytes = bytes.size(),
                                          .sha256 = sha256,
                                          .pinned = !member.sha256.empty()});
      !recorded)
    return recorded;
  return write_file_atomically(path, bytes);
}

}  // namespace

ArchiveLimits unpack_limits() {
  return {.file_bytes = std::uint64_t{1} << 30, .total_bytes = std::uint64_t{1} << 36, .files = 2'000'000};
}

Result<void> unpack(const std::string& archive, const std::vector<Member>& members, const std::string& folder,
                    const std::string& from, const ArchiveLimits& limits) {
  for (const auto& member : members) {
    const auto plain = plain_name(member.name);
    HYFREEDP_CHECK(plain && *plain == member.name, "a member's name must be a plain one: " + member.name);
  }
  std::vector<std::string> found(members.size());
  const auto wanted = [&](const std::string& name) {
    return std::any_of(members.begin(), members.end(),
                       [&](const Member& member) { return fits(member, name); });
  };
  const auto visit = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!fits(members[i], name)) continue;
      if (!found[i].empty()) {
        return error(fmt::format("{}: both {} and {} fit '{}'; one file must. Fetch another version of it.",
                                 archive, found[i], name, members[i].path));
      }
      found[i] = name;
      if (auto written = put(members[i], name, bytes, folder, from); !written) return written;
    }
    return {};
  };
  if (auto visited = visit_files(archive, wanted, visit, limits); !visited) return visited;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!found[i].empty()) continue;
    return error(fmt::format("{}: has no file '{}', so it is not what was expected. Fetch it again.", archive,
                             members[i].path));
  }
  return {};
}

}  // namespace hyfreedp::datasets
