#include "harness/models/files/tensor_values.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/base/safetensors_file.h"
#include "harness/base/text.h"

namespace hyfreedp::models {
namespace {

// A type of floating point numbers by its bits: sign, exponent, fraction. All ones in the exponent
// are an infinity or no number.
template <class Bits>
struct Format {
  Bits exponent;
  Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

  bool is_finite(Bits bits) const { return (bits & exponent) != exponent; }
  bool is_negative(Bits bits) const { return (bits & sign) != 0 && (bits & ~sign & ~Bits{0}) != 0; }
};

template <class Bits>
Bits bits_at(const StoredTensor& tensor, std::size_t i) {
  Bits bits;
  std::memcpy(&bits, tensor.values.bytes.data() + i * sizeof(Bits), sizeof(Bits));
  return bits;
}

// The first element that `is_bad`.
template <class Bits, class IsBad>
std::optional<std::size_t> first_bad(const StoredTensor& tensor, const IsBad& is_bad) {
  constexpr std::size_t kBlock = 4096;
  const auto count = tensor.values.bytes.size() / sizeof(Bits);
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const auto end = std::min(begin + kBlock, count);
    bool any = false;  // no way out of the loop, so that it becomes vector code
    for (auto i = begin; i < end; ++i) any |= is_bad(bits_at<Bits>(tensor, i));
    if (!any) continue;
    for (auto i = begin; i < end; ++i) {
      if (is_bad(bits_at<Bits>(tensor, i))) return i;
    }
  }
  return std::nullopt;
}

// "[0, 3]" of the i-th element.
std::string place_of(const StoredTensor& tensor, std::size_t i) {
  std::vector<std::string> indices;
  auto rest = static_cast<std::int64_t>(i);
  for (auto length = tensor.shape.rbegin(); length != tensor.shape.rend(); ++length) {
    indices.push_back(std::to_string(rest % *length));
    rest /= *length;
  }
  std::ranges::reverse(indices);
  return "[" + join(indices, ", ") + "]";
}

template <class Bits>
Result<void> check_numbers(const std::string& name, const StoredTensor& tensor, const Format<Bits>& format) {
  if (const auto bad = first_bad<Bits>(tensor, [&](Bits bits) { return !format.is_finite(bits); })) {
    const auto bits = bits_at<Bits>(tensor, *bad);
    const bool is_infinite = (bits & ~format.sign & ~format.exponent & ~Bits{0}) == 0;
    const char* const value = !is_infinite ? "nan" : (bits & format.sign) != 0 ? "-inf" : "inf";
    return error(fmt::format("the tensor {} is not finite: its first such value, {}, is at {}.", name, value,
                             place_of(tensor, *bad)));
  }
  if (!name.ends_with(".running_var")) return {};
  const auto bad = first_bad<Bits>(tensor, [&](Bits bits) { return format.is_negative(bits); });
  if (!bad) return {};
  return error(
      fmt::format("the tensor {} has a variance below 0, first at {}.", name, place_of(tensor, *bad)));
}

template <class Bits>
bool have_equal_numbers(const StoredTensor& one, const StoredTensor& other) {
  const auto count = one.values.bytes.size() / sizeof(Bits);
  for (std::size_t i = 0; i < count; ++i) {
    const auto here = bits_at<Bits>(one, i), there = bits_at<Bits>(other, i);
    // The shift drops the sign bit, so that 0 and -0 are equal.
    if (here != there && static_cast<Bits>((here | there) << 1U) != 0) return false;
  }
  return true;
}

}  // namespace

bool are_equal(const StoredTensor& one, const StoredTensor& other) {
  if (one.type != other.type || one.shape != other.shape) return false;
  if (one.values.bytes == other.values.bytes) return true;
  switch (one.type) {
    case ElementType::kF64:
      return have_equal_numbers<std::uint64_t>(one, other);
    case ElementType::kF32:
      return have_equal_numbers<std::uint32_t>(one, other);
    case ElementType::kF16:
    case ElementType::kBF16:
      return have_equal_numbers<std::uint16_t>(one, other);
    default:
      return false;
  }
}

Result<void> check_values(const std::string& name, const StoredTensor& tensor) {
  switch (tensor.type) {
    case ElementType::kF64:
      return check_numbers<std::uint64_t>(name, tensor, {.exponent = 0x7FF0'0000'0000'0000});
    case ElementType::kF32:
      return check_numbers<std::uint32_t>(name, tensor, {.exponent = 0x7F80'0000});
    case ElementType::kF16:
      return check_numbers<std::uint16_t>(name, tensor, {.exponent = 0x7C00});
    case ElementType::kBF16:
      return check_numbers<std::uint16_t>(name, tensor, {.exponent = 0x7F80});
    default:
      return error(
          fmt::format("the tensor {} has the type {}; weights are floating point numbers (F64, F32, F16 or "
                      "BF16).",
                      name, name_of(tensor.type)));
  }
}

}  // namespace hyfreedp::models
