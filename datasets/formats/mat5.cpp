#include "datasets/formats/mat5.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>

#include "datasets/formats/byte_source.h"

namespace hyfreedp::datasets {
namespace {

// Types of elements.
constexpr std::uint32_t kInt8 = 1;
constexpr std::uint32_t kInt32 = 5;
constexpr std::uint32_t kUInt32 = 6;
constexpr std::uint32_t kMatrix = 14;
constexpr std::uint32_t kCompressed = 15;
// Classes of matrices: 6 to 13 are double, single and the integers up to 32 bits.
constexpr std::uint32_t kFirstNumeric = 6;
constexpr std::uint32_t kLastNumeric = 13;
constexpr std::uint32_t kComplexFlag = 0x0800;

constexpr std::size_t kMaxName = 64;  // MATLAB's own limit is 63
constexpr std::size_t kMaxSizes = 8;

struct Tag {
  std::uint32_t type = 0;
  std::uint32_t bytes = 0;
};

// The rest of an element. Reading must not lead beyond its end.
class Element : public ByteSource {
 public:
  Element(ByteSource& source, std::uint64_t bytes)
      : ByteSource(source.path()), source_(&source), left_(bytes) {}

  Result<std::size_t> read_up_to(std::span<std::uint8_t> out) override {
    auto got =
        source_->read_up_to(out.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size()))));
    if (got) left_ -= *got;
    return got;
  }
  std::uint64_t left() const { return left_; }
  // Passes over the rest.
  Result<void> skip() { return skip(left_); }
  Result<void> skip(std::uint64_t bytes) {
    std::array<std::uint8_t, std::size_t{1} << 14> unused;
    while (bytes > 0) {
      const auto piece =
          std::span(unused).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, unused.size())));
      if (auto got = read_exactly(*this, piece, "an element"); !got) return got;
      bytes -= piece.size();
    }
    return {};
  }

 private:
  ByteSource* source_;
  std::uint64_t left_;
};

std::uint32_t little_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

Error damaged(const ByteSource& file, const std::string& what) {
  return error(fmt::format("{}: {}; the file is damaged. Fetch it again.", file.path(), what));
}

// Reads the next element's tag; none at the source's end.
Result<std::optional<Tag>> read_tag(ByteSource& source) {
  std::uint8_t raw[8];
  const auto got = source.read_up_to(raw);
  if (!got) return got.error();
  if (*got == 0) return std::optional<Tag>();
  if (*got < sizeof raw) return damaged(source, "ends within the head of an element");
  return std::optional(Tag{.type = little_endian(raw), .bytes = little_endian(raw + 4)});
}

struct Part {
  std::uint32_t type = 0;
  std::vector<std::uint8_t> bytes;
};

// The next element of a matrix, of at most `most` bytes, with its padding. `what` is for errors.
Result<Part> read_part(Element& matrix, std::uint64_t most, const std::string& what) {
  std::uint8_t raw[8];
  if (auto got = read_exactly(matrix, raw, what); !got) return got.error();
  const auto first = little_endian(raw);
  if (const auto small = first >> 16; small != 0) {
    if (small > 4) return damaged(matrix, fmt::format("{} has {} bytes in the place of 4", what, small));
    if (small > most)
      return damaged(matrix,
                     fmt::format("{} has {} bytes, where at most {} are expected", what, small, most));
    return Part{.type = first & 0xffff, .bytes = std::vector<std::uint8_t>(raw + 4, raw + 4 + small)};
  }
  const std::uint64_t count = little_endian(raw + 4);
  if (count > most)
    return damaged(matrix, fmt::format("{} has {} bytes, where at most {} are expected", what, count, most));
  if (count > matrix.left()) {
    return damaged(matrix,
                   fmt::format("{} has {} bytes, but {} are left of its array", what, count, matrix.left()));
  }
  auto bytes = read_bytes(matrix, count, what);
  if (!bytes) return bytes.error();
  // Some programs leave out the padding at an array's end.
  if (auto skipped = matrix.skip(std::min<std::uint64_t>(matrix.left(), (8 - count % 8) % 8)); !skipped) {
    return skipped.error();
  }
  return Part{.type = first, .bytes = std::move(*bytes)};
}

struct Head {
  std::uint32_t flags = 0;
  std::vector<std::int64_t> sizes;
  std::string name;
};

Result<Head> read_head(Element& matrix) {
  Head head;
  const auto flags = read_part(matrix, 8, "the flags of an array");
  if (!flags) return flags.error();
  if (flags->type != kUInt32 || flags->bytes.size() != 8)
    return damaged(matrix, "an array begins without its flags");
  head.flags = little_endian(flags->bytes.data());
  const auto sizes = read_part(matrix, 4 * kMaxSizes, "the sizes of an array");
  if (!sizes) return sizes.error();
  if (sizes->type != kInt32 || sizes->bytes.size() % 4 != 0 || sizes->bytes.size() < 8) {
    return damaged(matrix, "an array has no sizes");
  }
  for (std::size_t at = 0; at < sizes->bytes.size(); at += 4) {
    head.sizes.push_back(static_cast<std::int32_t>(little_endian(sizes->bytes.data() + at)));
    if (head.sizes.back() < 0) return damaged(matrix, "an array has a negative size");
  }
  const auto name = read_part(matrix, kMaxName, "the name of an array");
  if (!name) return name.error();
  if (name->type != kInt8) return damaged(matrix, "an array has no name");
  head.name.assign(name->bytes.begin(), name->bytes.end());
  return head;
}

// Each value of type T as a byte; nothing where one is no whole number from 0 to 255.
template <class T>
std::optional<std::vector<std::uint8_t>> narrowed(const std::vector<std::uint8_t>& raw) {
  std::vector<std::uint8_t> values(raw.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    if (!(value >= T(0)) || static_cast<double>(value) > 255) return std::nullopt;
    values[i] = static_cast<std::uint8_t>(value);
    if (static_cast<T>(values[i]) != value) return std::nullopt;
  }
  return values;
}

// A type in which values may be stored, whatever the array's class is: MATLAB stores a double that
// is a small whole number as a byte.
struct Storage {
  std::uint32_t type;
  std::uint64_t width;  // bytes of a value
  std::optional<std::vector<std::uint8_t>> (*narrow)(const std::vector<std::uint8_t>& raw);
};

constexpr Storage kStorages[] = {{1, 1, narrowed<std::int8_t>},
                                 {2, 1, nullptr},
                                 {3, 2, narrowed<std::int16_t>},
                                 {4, 2, narrowed<std::uint16_t>},
                                 {kInt32, 4, narrowed<std::int32_t>},
                                 {kUInt32, 4, narrowed<std::uint32_t>},
                                 {7, 4, narrowed<float>},
                                 {9, 8, narrowed<double>}};

// The values behind `head`, to the matrix's end.
Result<MatArray> read_values(Element& matrix, Head head, std::uint64_t max_values) {
  const auto at = [&](const std::string& what) {
    return error(fmt::format("{}: the array '{}' {}", matrix.path(), head.name, what));
  };
  if ((head.flags & 0xff) < kFirstNumeric || (head.flags & 0xff) > kLastNumeric ||
      (head.flags & kComplexFlag) != 0) {
    return at(
        fmt::format("has class {} and flags 0x{:04x}; expected are real numbers, not sparse, of at most 32 "
                    "bits or double.",
                    head.flags & 0xff, head.flags & 0xff00));
  }
  std::uint64_t count = 1;
  for (const auto size : head.sizes) {
    const auto side = static_cast<std::uint64_t>(size);
    if (side != 0 && count > max_values / side) {
      return at(fmt::format("has more than {} values by its sizes {}. Raise the limit if the file is right.",
                            max_values, fmt::join(head.sizes, " x ")));
    }
    count *= side;
  }
  auto part = read_part(matrix, 8 * count, fmt::format("the array '{}'", head.name));
  if (!part) return part.error();
  const auto* storage = std::find_if(std::begin(kStorages), std::end(kStorages),
                                     [&](const Storage& each) { return each.type == part->type; });
  if (storage == std::end(kStorages))
    return at(fmt::format("has values of the unknown type {}.", part->type));
  if (part->bytes.size() != count * storage->width) {
    return at(fmt::format("has {} bytes of values; {} are expected from its sizes {}. Fetch the file again.",
                          part->bytes.size(), count * storage->width, fmt::join(head.sizes, " x ")));
  }
  if (matrix.left() != 0)
    return at(fmt::format("has {} bytes after its values. Fetch the file again.", matrix.left()));
  if (storage->narrow != nullptr) {
    auto bytes = storage->narrow(part->bytes);
    if (!bytes) return at("has a value that is no whole number from 0 to 255.");
    part->bytes = std::move(*bytes);
  }
  return MatArray{.sizes = std::move(head.sizes), .values = std::move(part->bytes)};
}

class Reader {
 public:
  Reader(ByteSource& file, const std::vector<MatWanted>& wanted)
      : file_(file), wanted_(wanted), found_(wanted.size()) {}

  Result<std::vector<MatArray>> read() {
    if (auto checked = check_file_head(); !checked) return checked.error();
    while (true) {
      const auto tag = read_tag(file_);
      if (!tag) return tag.error();
      if (!*tag) break;
      if (auto read = read_element(**tag); !read) return read.error();
    }
    std::vector<MatArray> arrays;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) return error(fmt::format("{}: has no array '{}'.", file_.path(), wanted_[i].name));
      arrays.push_back(std::move(*found_[i]));
    }
    return arrays;
  }

 private:
  Result<void> check_file_head() {
    std::uint8_t head[128];
    const auto got = file_.read_up_to(head);
    if (!got) return got.error();
    const std::string_view text(reinterpret_cast<const char*>(head), *got);
    if (text.starts_with("\x89HDF") || text.starts_with("MATLAB 7.3")) {
      return error(file_.path() +
                   ": a MAT file of version 7.3; only version 5 is read. In MATLAB: save with -v7.");
    }
    if (*got < sizeof head || !(text.ends_with("IM") || text.ends_with("MI"))) {
      return error(file_.path() +
                   ": not a MAT file of version 5 (no IM at byte 126). In MATLAB: save with -v7.");
    }
    if (text.ends_with("MI"))
      return error(file_.path() + ": a big-endian MAT file; only little-endian ones are read.");
    if (head[124] != 0 || head[125] != 1) {
      return error(fmt::format(
          "{}: a MAT file of version 0x{:02x}{:02x}; only 0x0100 is read. In MATLAB: save with -v7.",
          file_.path(), head[125], head[124]));
    }
    return {};
  }

  Result<void> read_element(const Tag& tag) {
    Element element(file_, tag.bytes);
    if (tag.type == kMatrix) {
      if (const auto read = read_matrix(element); !read) return read.error();
    } else if (tag.type == kCompressed) {
      Inflated unpacked(element, "a packed array");
      const auto inner = read_tag(unpacked);
      if (!inner) return inner.error();
      if (!*inner || (*inner)->type != kMatrix) return damaged(file_, "a packed element is not an array");
      Element matrix(unpacked, (*inner)->bytes);
      const auto taken = read_matrix(matrix);
      if (!taken) return taken.error();
      if (*taken) {
        if (auto ended = check_end(unpacked); !ended) return ended;
      }
    } else {
      return damaged(file_, fmt::format("has an element of type {} where an array is expected", tag.type));
    }
    return element.skip();
  }

  // zlib verifies its checksum for one who asks for a byte beyond the last.
  Result<void> check_end(Inflated& unpacked) {
    std::uint8_t beyond[1];
    const auto more = unpacked.read_up_to(beyond);
    if (!more) return more.error();
    if (*more != 0) return damaged(file_, "a packed array has bytes after its end");
    return {};
  }

  // Takes the array if it is wanted, which is returned; otherwise it is left where its name ends.
  Result<bool> read_matrix(Element& matrix) {
    auto head = read_head(matrix);
    if (!head) return head.error();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].name != head->name) continue;
      if (found_[i]) return error(fmt::format("{}: has the array '{}' twice.", file_.path(), head->name));
      auto array = read_values(matrix, std::move(*head), wanted_[i].max_values);
      if (!array) return array.error();
      found_[i] = std::move(*array);
      return true;
    }
    return false;
  }

  ByteSource& file_;
  const std::vector<MatWanted>& wanted_;
  std::vector<std::optional<MatArray>> found_;
};

}  // namespace

Result<std::vector<MatArray>> read_mat5(const std::string& path, const std::vector<MatWanted>& wanted) {
  auto file = PackedFile::open(path);
  if (!file) return file.error();
  return Reader(*file, wanted).read();
}

}  // namespace hyfreedp::datasets
