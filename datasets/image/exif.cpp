#include <cstdint>
#include <optional>

#include "datasets/image/decode.h"

namespace hyfreedp::datasets {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kOrientation = 0x0112;

// A number of `count` bytes at `at`; nothing beyond the end.
std::optional<std::uint32_t> number_at(std::string_view bytes, std::size_t at, std::size_t count,
                                       bool little_endian = false) {
  if (at > bytes.size() || count > bytes.size() - at) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (little_endian ? count - 1 - i : i)]);
    value = value << 8U | byte;
  }
  return value;
}

// The orientation in the first directory of `tiff`, in which EXIF is written; nothing where it says
// none.
std::optional<std::uint32_t> orientation_in(std::string_view tiff) {
  const bool little = tiff.starts_with("II*\0"sv);
  if (!little && !tiff.starts_with("MM\0*"sv)) return std::nullopt;
  const auto directory = number_at(tiff, 4, 4, little);
  if (!directory) return std::nullopt;
  const auto entries = number_at(tiff, *directory, 2, little);
  for (std::size_t i = 0; i < entries.value_or(0); ++i) {
    const auto entry = *directory + 2 + 12 * i;  // tag, type, count, value
    const auto tag = number_at(tiff, entry, 2, little);
    if (!tag) return std::nullopt;
    if (*tag == kOrientation) return number_at(tiff, entry + 8, 2, little);
  }
  return std::nullopt;
}

// The EXIF of a JPEG is in a segment before the image.
std::string_view exif_of_jpeg(std::string_view head) {
  std::size_t at = 2;
  while (true) {
    const auto marker = number_at(head, at, 2), length = number_at(head, at + 2, 2);
    if (!marker || !length || *marker <= 0xFF00 || *marker == 0xFFDA || *length < 2) return {};
    const auto segment = head.substr(at + 4, *length - 2);
    if (*marker == 0xFFE1 && segment.starts_with("Exif\0\0"sv)) return segment.substr(6);
    at += 2 + *length;
    if (at > head.size()) return {};
  }
}

std::string_view exif_of_png(std::string_view head) {
  for (std::size_t at = 8; at <= head.size();) {
    const auto length = number_at(head, at, 4);
    if (!length || head.size() - at < 8) return {};
    if (head.substr(at + 4, 4) == "eXIf") return head.substr(at + 8, *length);
    at += std::size_t{12} + *length;
  }
  return {};
}

}  // namespace

bool is_turned_by_exif(std::string_view head) {
  const bool jpeg = head.starts_with("\xFF\xD8\xFF"sv), png = head.starts_with("\x89PNG"sv);
  const auto orientation = orientation_in(jpeg ? exif_of_jpeg(head) : png ? exif_of_png(head) : ""sv);
  return orientation && *orientation >= 2 && *orientation <= 8;
}

}  // namespace hyfreedp::datasets
