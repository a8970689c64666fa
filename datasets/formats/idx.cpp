#include "datasets/formats/idx.h"

#include <fmt/format.h>

namespace hyfreedp::datasets {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr int kMaxDimensions = 4;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

Result<std::vector<std::int64_t>> read_shape(ByteSource& file) {
  const auto& path = file.path();
  std::uint8_t head[4];
  if (auto got = read_exactly(file, head, "the IDX header"); !got) return got.error();
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
    if (auto got = read_exactly(file, raw, "the IDX sizes"); !got) return got.error();
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
  auto file = PackedFile::open(path);
  if (!file) return file.error();
  return read_idx(*file);
}

Result<IdxArray> read_idx(ByteSource& source) {
  auto shape = read_shape(source);
  if (!shape) return shape.error();
  std::uint64_t elements = 1;
  for (const auto size : *shape) elements *= static_cast<std::uint64_t>(size);
  auto bytes = read_bytes(source, elements, "elements");
  if (!bytes) return bytes.error();
  std::uint8_t beyond[1];
  const auto more = source.read_up_to(beyond);
  if (!more) return more.error();
  if (*more != 0) return error(source.path() + ": has bytes after the last element; the file is damaged.");
  return IdxArray{.shape = std::move(*shape), .bytes = std::move(*bytes)};
}

}  // namespace hyfreedp::datasets
