#include "harness/models/files/gguf.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/base/mapped_file.h"
#include "harness/base/utf8.h"

namespace hyfreedp::models {
namespace {

constexpr std::uint32_t kBlock = 32;  // numbers
constexpr std::size_t kMostItems = std::size_t{1} << 22;
constexpr std::uint32_t kMostSizes = 4;

// The types of values in the file's header.
enum ValueType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kText,
  kList,
  kU64,
  kI64,
  kF64
};

struct TypeFacts {
  GgufType type;
  std::uint64_t numbers;  // of a block
  std::uint64_t bytes;    // of a block
};
constexpr TypeFacts kTypes[] = {{GgufType::kF32, 1, 4},        {GgufType::kF16, 1, 2},
                                {GgufType::kBF16, 1, 2},       {GgufType::kQ4_0, kBlock, 18},
                                {GgufType::kQ4_1, kBlock, 20}, {GgufType::kQ8_0, kBlock, 34}};

const TypeFacts* facts_of(std::uint32_t type) {
  for (const auto& one : kTypes) {
    if (static_cast<std::uint32_t>(one.type) == type) return &one;
  }
  return nullptr;
}

class Reader {
 public:
  Reader(const SharedBytes& file, const std::string& where) : file_(file), where_(where) {}

  Result<GgufFile> read() {
    if (take(4) != "GGUF") return bad("not a GGUF file");
    const auto version = number<std::uint32_t>();
    if (version != 2 && version != 3)
      return bad(fmt::format("its version is {}; versions 2 and 3, little endian, are read", version));
    const auto tensors = number<std::uint64_t>();
    const auto values = number<std::uint64_t>();
    GgufFile found;
    for (std::uint64_t i = 0; i < values && !short_; ++i) {
      const std::string name(text());
      auto value = this->value(number<std::uint32_t>(), true);
      if (short_) break;
      if (!value)
        return bad(
            fmt::format("the value '{}' has an unknown type, or its list is too long", as_one_line(name)));
      if (!found.values.emplace(name, std::move(*value)).second)
        return bad(fmt::format("the value '{}' is there twice", as_one_line(name)));
    }
    for (std::uint64_t i = 0; i < tensors && !short_; ++i) {
      if (auto added = add_tensor(found); !added) return added.error();
    }
    if (short_) return bad("it ends before its header does, or a text in it is not UTF-8");
    if (auto placed = place(found); !placed) return placed.error();
    return found;
  }

 private:
  Error bad(const std::string& what) const { return error(where_ + ": " + what + "."); }

  // Takes the next bytes. If the file is too short, it sets `short_`, after which nothing is taken.
  std::string_view take(std::uint64_t bytes) {
    if (short_ || bytes > file_.bytes.size() - at_) {
      short_ = true;
      return {};
    }
    const auto taken = file_.bytes.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }
  template <class T>
  T number() {
    const auto bytes = take(sizeof(T));
    T value{};
    if (!short_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() {
    const auto bytes = take(number<std::uint64_t>());
    if (first_byte_not_utf8(bytes)) short_ = true;
    return bytes;
  }

  std::optional<json::value> value(std::uint32_t type, bool may_be_list) {
    switch (type) {
      case kU8:
        return number<std::uint8_t>();
      case kI8:
        return number<std::int8_t>();
      case kU16:
        return number<std::uint16_t>();
      case kI16:
        return number<std::int16_t>();
      case kU32:
        return number<std::uint32_t>();
      case kI32:
        return number<std::int32_t>();
      case kF32:
        return number<float>();
      case kBool:
        return number<std::uint8_t>() != 0;
      case kText:
        return json::value(text());
      case kU64:
        return number<std::uint64_t>();
      case kI64:
        return number<std::int64_t>();
      case kF64:
        return number<double>();
      case kList:
        break;
      default:
        return std::nullopt;
    }
    if (!may_be_list) return std::nullopt;
    const auto of = number<std::uint32_t>();
    const auto count = number<std::uint64_t>();
    if (count > kMostItems - items_) return std::nullopt;
    items_ += count;
    json::array list;
    for (std::uint64_t i = 0; i < count && !short_; ++i) {
      auto item = value(of, false);
      if (!item) return std::nullopt;
      list.push_back(std::move(*item));
    }
    return list;
  }

  Result<void> add_tensor(GgufFile& found) {
    const std::string name(text());
    const auto sizes = number<std::uint32_t>();
    const auto of = fmt::format("the tensor '{}'", as_one_line(name));
    if (!short_ && (sizes < 1 || sizes > kMostSizes)) return bad(fmt::format("{} has {} sizes", of, sizes));
    GgufTensor tensor;
    std::uint64_t numbers = 1;
    for (std::uint32_t i = 0; i < sizes && !short_; ++i) {
      const auto size = number<std::uint64_t>();
      if (short_) return {};
      if (size < 1 || __builtin_mul_overflow(numbers, size, &numbers) || numbers > INT64_MAX / 64)
        return bad(fmt::format("{} has a size that cannot be", of));
      tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
    }
    const auto type = number<std::uint32_t>();
    const auto offset = number<std::uint64_t>();
    if (short_) return {};
    const auto* const facts = facts_of(type);
    if (facts == nullptr) {
      return bad(
          fmt::format("{} has the type {}, which is not read; F32, F16, BF16, Q8_0, Q4_0 and Q4_1 are "
                      "(0, 1, 30, 8, 2, 3)",
                      of, type));
    }
    tensor.type = facts->type;
    if (static_cast<std::uint64_t>(tensor.shape.back()) % facts->numbers != 0)
      return bad(
          fmt::format("{} has rows of {} numbers, no multiple of {}", of, tensor.shape.back(), kBlock));
    places_[name] = {offset, numbers / facts->numbers * facts->bytes};
    if (!found.tensors.emplace(name, std::move(tensor)).second)
      return bad(fmt::format("{} is there twice", of));
    return {};
  }

  Result<void> place(GgufFile& found) {
    std::uint64_t alignment = kBlock;
    if (const auto* given = found.values.if_contains("general.alignment")) {
      const auto whole = to_int(*given, "general.alignment");
      if (!whole || *whole < 1 || *whole > 1 << 20 ||
          !std::has_single_bit(static_cast<std::uint64_t>(*whole)))
        return bad("'general.alignment' is no power of two up to 2^20");
      alignment = static_cast<std::uint64_t>(*whole);
    }
    const auto begin = (at_ + alignment - 1) / alignment * alignment;
    const auto data = file_.bytes.substr(std::min<std::uint64_t>(begin, file_.bytes.size()));
    std::uint64_t left = data.size();  // for all tensors together
    for (auto& [name, tensor] : found.tensors) {
      const auto [offset, bytes] = places_[name];
      if (offset % alignment != 0 || offset > data.size() || bytes > data.size() - offset || bytes > left)
        return bad(fmt::format("the tensor '{}' lies outside the file or on others, or is not aligned",
                               as_one_line(name)));
      left -= bytes;
      tensor.bytes = {.bytes = data.substr(offset, bytes), .owner = file_.owner};
    }
    return {};
  }

  const SharedBytes& file_;
  const std::string& where_;
  std::uint64_t at_ = 0;
  bool short_ = false;
  std::size_t items_ = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> places_;  // offset and bytes
};

float half_at(const char* bytes) {
  std::uint16_t half = 0;
  std::memcpy(&half, bytes, sizeof half);
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  const float size = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                     : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                      : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

// The 32 numbers of a block.
void fill_block(GgufType type, const char* block, float* to) {
  const float scale = half_at(block);
  if (type == GgufType::kQ8_0) {
    for (std::uint32_t i = 0; i < kBlock; ++i)
      to[i] = scale * static_cast<float>(static_cast<signed char>(block[2 + i]));
    return;
  }
  const bool has_least = type == GgufType::kQ4_1;
  const float least = has_least ? half_at(block + 2) : 0;
  const float less = has_least ? 0 : 8;
  // The low halves of the bytes are the first 16 numbers, the high halves the others.
  for (std::uint32_t i = 0; i < kBlock / 2; ++i) {
    const auto two = static_cast<unsigned char>(block[(has_least ? 4 : 2) + i]);
    to[i] = (static_cast<float>(two & 15) - less) * scale + least;
    to[i + kBlock / 2] = (static_cast<float>(two >> 4) - less) * scale + least;
  }
}

}  // namespace

Result<GgufFile> parse_gguf(const SharedBytes& file, const std::string& where) {
  return Reader(file, where).read();
}

Result<GgufFile> read_gguf(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  return parse_gguf(*file, path);
}

ElementType element_type_of(GgufType type) {
  if (type == GgufType::kF16) return ElementType::kF16;
  return type == GgufType::kBF16 ? ElementType::kBF16 : ElementType::kF32;
}

StoredTensor numbers_of(const GgufTensor& tensor) {
  StoredTensor numbers{.type = element_type_of(tensor.type), .shape = tensor.shape, .values = tensor.bytes};
  const auto* const facts = facts_of(static_cast<std::uint32_t>(tensor.type));
  if (facts->numbers == 1) return numbers;
  const auto blocks = tensor.bytes.bytes.size() / facts->bytes;
  std::string values(blocks * kBlock * sizeof(float), '\0');
  float block[kBlock];
  for (std::size_t i = 0; i < blocks; ++i) {
    fill_block(tensor.type, tensor.bytes.bytes.data() + i * facts->bytes, block);
    std::memcpy(values.data() + i * sizeof block, block, sizeof block);
  }
  numbers.values = owned_bytes(std::move(values));
  return numbers;
}

}  // namespace hyfreedp::models
