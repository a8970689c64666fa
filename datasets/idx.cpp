#include "datasets/idx.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <zlib.h>

namespace hyfreedp::datasets {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr int kMaxDimensions = 4;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

// Bytes read, fewer than asked for only at the end of the file; zlib verifies the gzip checksum
// when it gets there.
Result<std::size_t> read_up_to(const File& file, std::span<std::uint8_t> out, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 24;  // gzread counts in int
  std::size_t done = 0;
  while (done < out.size()) {
    const auto want = static_cast<unsigned>(std::min(kPiece, out.size() - done));
    const int got = gzread(file.get(), out.data() + done, want);
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) {
      return error(fmt::format("{}: cannot read ({}); the file is damaged. Fetch it again.", path,
                               code == Z_ERRNO ? std::strerror(errno) : message));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> read_exactly(const File& file, std::span<std::uint8_t> out, const std::string& path,
                          const std::string& what) {
  const auto got = read_up_to(file, out, path);
  if (!got) return got.error();
  if (*got == out.size()) return {};
  return error(fmt::format("{}: ends after {} of {} bytes of {}; the file is truncated. Fetch it again.",
                           path, *got, out.size(), what));
}

Result<std::vector<std::int64_t>> read_shape(const File& file, const std::string& path) {
  std::uint8_t head[4];
  if (auto got = read_exactly(file, head, path, "the IDX header"); !got) return got.error();
  if (head[0] != 0 || head[1] != 0)
    return error(path + ": not an IDX file (its first two bytes are not zero).");
  if (head[2] != kUnsignedByte) {
    return error(
        fmt::format("{}: IDX element type 0x{:02x}; only unsigned bytes (0x08) are read.", path, head[2]));
  }
  if (head[3] < 1 || head[3] > kMaxDimensions) {
    return error(
        fmt::format("{}: {} dimensions in the IDX header; 1 to {} are read.", path, head[3], kMaxDimensions));
  }
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (int i = 0; i < head[3]; ++i) {
    std::uint8_t raw[4];
    if (auto got = read_exactly(file, raw, path, "the IDX sizes"); !got) return got.error();
    std::int64_t size = 0;
    for (const auto byte : raw) size = size * 256 + byte;
    if (size != 0 && elements > kMaxElements / size) {
      return error(path + ": the IDX header declares more than 2^31 elements; the file is damaged.");
    }
    elements *= size;
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

Result<IdxArray> read_idx(const std::string& path) {
  const File file(gzopen(path.c_str(), "rbe"));
  if (!file) return error(path + ": cannot open (" + std::strerror(errno) + ")");
  auto shape = read_shape(file, path);
  if (!shape) return shape.error();
  std::int64_t elements = 1;
  for (const auto size : *shape) elements *= size;
  IdxArray array{.shape = *shape, .bytes = std::vector<std::uint8_t>(static_cast<std::size_t>(elements))};
  if (auto got = read_exactly(file, array.bytes, path, "elements"); !got) return got.error();
  std::uint8_t beyond[1];
  const auto more = read_up_to(file, beyond, path);
  if (!more) return more.error();
  if (*more != 0) return error(path + ": has bytes after the last element; the file is damaged.");
  return array;
}

}  // namespace hyfreedp::datasets
