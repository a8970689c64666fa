#include "harness/models/files/zip_entries.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "harness/base/utf8.h"

namespace hyfreedp::models {
namespace {

// Records begin with these and are at least so long.
constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::size_t kEndLength = 22;
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::size_t kEnd64Length = 56;
constexpr std::string_view kLocator64 = "PK\x06\x07";
constexpr std::size_t kLocator64Length = 20;
constexpr std::string_view kCentral = "PK\x01\x02";
constexpr std::size_t kCentralLength = 46;
constexpr std::string_view kLocal = "PK\x03\x04";
constexpr std::size_t kLocalLength = 30;
constexpr std::uint64_t kIn64Bits = UINT32_MAX;  // "look at the 64-bit field"

std::uint64_t little_endian(std::string_view record, std::size_t at, std::size_t length) {
  std::uint64_t number = 0;
  for (std::size_t i = length; i-- > 0;) number = number << 8U | static_cast<unsigned char>(record[at + i]);
  return number;
}

// The record that begins at `at`; empty where the file has none there.
std::string_view record_at(std::string_view file, std::uint64_t at, std::string_view signature,
                           std::size_t length) {
  if (at > file.size() || file.size() - at < length || file.substr(at, 4) != signature) return {};
  return file.substr(at, length);
}

// The offset of the end record. Only its comment, of at most 65,535 bytes, may follow it.
std::optional<std::size_t> find_end(std::string_view file) {
  if (file.size() < kEndLength) return std::nullopt;
  const std::size_t last = file.size() - kEndLength;
  const std::size_t first = last - std::min<std::size_t>(last, 65'535);
  for (std::size_t at = last + 1; at-- > first;) {
    if (file.substr(at, 4) == kEnd && little_endian(file, at + 20, 2) == last - at) return at;
  }
  return std::nullopt;
}

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

Result<Directory> find_directory(std::string_view file, const std::string& where) {
  const auto bad = [&](const char* what) { return error(where + ": " + what + ". Fetch the file again"); };
  const auto end_at = find_end(file);
  if (!end_at) return bad("the zip archive has no directory at its end; it seems to be cut off");
  const auto end = file.substr(*end_at, kEndLength);
  if (little_endian(end, 4, 2) != little_endian(end, 6, 2)) return bad("the zip archive has several volumes");
  Directory directory{.begin = little_endian(end, 16, 4),
                      .size = little_endian(end, 12, 4),
                      .count = little_endian(end, 10, 2)};
  if (*end_at >= kLocator64Length) {
    const auto locator = record_at(file, *end_at - kLocator64Length, kLocator64, kLocator64Length);
    if (!locator.empty()) {
      const auto end64 = record_at(file, little_endian(locator, 8, 8), kEnd64, kEnd64Length);
      if (end64.empty()) return bad("the zip archive's 64-bit directory is not where it says");
      directory = {.begin = little_endian(end64, 48, 8),
                   .size = little_endian(end64, 40, 8),
                   .count = little_endian(end64, 32, 8)};
    }
  }
  if (directory.begin > *end_at || directory.size > *end_at - directory.begin) {
    return bad("the zip archive's directory lies outside the file");
  }
  return directory;
}

// The 64-bit fields of a directory's entry: one for each of the values that does not fit into 32.
bool read_fields64(std::string_view extra, std::vector<std::uint64_t*> values) {
  std::erase_if(values, [](const std::uint64_t* value) { return *value != kIn64Bits; });
  if (values.empty()) return true;
  while (extra.size() >= 4) {
    const auto length = little_endian(extra, 2, 2);
    if (length > extra.size() - 4) return false;
    if (little_endian(extra, 0, 2) == 1) {
      if (length < 8 * values.size()) return false;
      for (std::size_t i = 0; i < values.size(); ++i) *values[i] = little_endian(extra, 4 + 8 * i, 8);
      return true;
    }
    extra.remove_prefix(4 + length);
  }
  return false;
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

}  // namespace

Result<std::map<std::string, std::string_view>> zip_entries(std::string_view file, const std::string& where) {
  const auto directory = find_directory(file, where);
  if (!directory) return directory.error();
  std::map<std::string, std::string_view> entries;
  std::vector<Range> ranges;
  auto rest = file.substr(directory->begin, directory->size);
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    const auto header = record_at(rest, 0, kCentral, kCentralLength);
    if (header.empty())
      return error(fmt::format("{}: entry {} of the zip archive's directory is damaged", where, i));
    const auto name_length = little_endian(header, 28, 2);
    const auto extra_length = little_endian(header, 30, 2);
    const auto comment_length = little_endian(header, 32, 2);
    if (name_length + extra_length + comment_length > rest.size() - kCentralLength) {
      return error(fmt::format("{}: entry {} of the zip archive's directory is cut off", where, i));
    }
    const std::string name(rest.substr(kCentralLength, name_length));
    const auto bad = [&](const std::string& what) {
      return error(fmt::format("{}: entry '{}' of the zip archive {}", where, as_one_line(name), what));
    };
    std::uint64_t size = little_endian(header, 24, 4);
    std::uint64_t packed = little_endian(header, 20, 4);
    std::uint64_t local_at = little_endian(header, 42, 4);
    if (!read_fields64(rest.substr(kCentralLength + name_length, extra_length),
                       {&size, &packed, &local_at})) {
      return bad("has damaged 64-bit fields");
    }
    rest.remove_prefix(kCentralLength + name_length + extra_length + comment_length);
    if ((little_endian(header, 8, 2) & 1U) != 0) return bad("is encrypted");
    const auto method = little_endian(header, 10, 2);
    if (method != 0) {
      return bad(
          fmt::format("is compressed (by method {}), which PyTorch does not do. Save the network again "
                      "with torch.save",
                      method));
    }
    if (packed != size) return bad("is stored, with two different sizes");
    // The local header's extra field may have another length than the directory's.
    const auto local = record_at(file, local_at, kLocal, kLocalLength);
    if (local.empty()) return bad("is not where the directory says");
    const auto begin = local_at + kLocalLength + little_endian(local, 26, 2) + little_endian(local, 28, 2);
    if (begin > directory->begin || packed > directory->begin - begin) return bad("lies outside the file");
    ranges.push_back({.begin = local_at, .end = begin + packed});
    if (!entries.emplace(name, file.substr(begin, packed)).second) return bad("is there twice");
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end) return error(where + ": entries of the zip archive overlap");
  }
  return entries;
}

}  // namespace hyfreedp::models
