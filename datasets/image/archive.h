// The files of a folder, or of a tar (plain or gzipped) or zip of one, told from its bytes, one by
// one.
//
// Names are relative to the folder, with / between their parts; a leading ./ is taken off. A
// folder's files come sorted by name, whatever the file system; an archive's in its own order.
// Names are bytes, whatever the locale; those that a zip declares to be UTF-8 come in Unicode's
// form C, and are errors where they are none.
//
// Only the folder's own files are ever named or read, whoever packed it: links of either kind,
// devices, absolute names and names with a .. are errors, not skipped, since one who packed them
// meant something by them. Sizes are checked as declared, before anything is unpacked, so that a
// small file which unpacks to a large one takes no memory. An archive that ends too early is an
// error, and so is a file in it that is not as long as it is said to be.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct ArchiveLimits {
  std::uint64_t file_bytes = std::uint64_t{1} << 28;  // of one file that is read: 268 MB
  // Bytes of all files of an archive, read or not; of those of a folder that are read: 1.1 TB.
  std::uint64_t total_bytes = std::uint64_t{1} << 40;
  std::uint64_t files = 20'000'000;
};

// Returns true for a file that is to be read; the others are passed over without unpacking where
// possible.
using Wanted = std::function<bool(const std::string& name)>;
// Takes a file that was wanted. An error ends the reading and is returned as it is.
using Visit = std::function<Result<void>(const std::string& name, std::string_view bytes)>;

// Calls `visit` for every wanted file of `path`, a folder or an archive. `wanted` sees each name
// once, before the visit. Errors name `path` and the file in it.
Result<void> visit_files(const std::string& path, const Wanted& wanted, const Visit& visit,
                         const ArchiveLimits& limits = {});

// The part of a file that is read: its first kHeadBytes, or as many as it has, are its head.
enum class FilePart { none, head, whole };
constexpr std::size_t kHeadBytes = std::size_t{1} << 14;
using WantedPart = std::function<FilePart(const std::string& name)>;
// Takes what is wrong with one file: a link or device, a name that leads out, one that is too large
// or cannot be read. `name` is empty where it has none.
using Unread = std::function<void(const std::string& name, const Error& why)>;

// The same of parts of files, and it goes on after a file that cannot be read.
Result<void> visit_parts(const std::string& path, const WantedPart& wanted, const Visit& visit,
                         const Unread& unread, const ArchiveLimits& limits = {});

// The name in its plain form. Errors: absolute, empty, a part that is .., a byte below 32.
Result<std::string> plain_name(std::string_view name);

}  // namespace hyfreedp::datasets
