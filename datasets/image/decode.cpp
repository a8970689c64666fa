#include "datasets/image/decode.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "datasets/image/codecs.h"

namespace hyfreedp::datasets {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view name;
  std::string_view signature;
  Result<Image> (*decode)(std::string_view, const ImageLimits&);  // null: known, but not read
};

// The first that fits counts.
constexpr std::array kFormats = {
    Format{"JPEG", "\xFF\xD8\xFF"sv, decode_jpeg},
    Format{"PNG", "\x89PNG\r\n\x1A\n"sv, decode_png},
    Format{"PPM", "P5"sv, decode_ppm},
    Format{"PPM", "P6"sv, decode_ppm},
    Format{"a text or bitmap PNM (P1 to P4)", "P1"sv, nullptr},
    Format{"a text or bitmap PNM (P1 to P4)", "P2"sv, nullptr},
    Format{"a text or bitmap PNM (P1 to P4)", "P3"sv, nullptr},
    Format{"a text or bitmap PNM (P1 to P4)", "P4"sv, nullptr},
    Format{"GIF", "GIF8"sv, nullptr},
    Format{"BMP", "BM"sv, nullptr},
    Format{"TIFF", "II*\0"sv, nullptr},
    Format{"TIFF", "MM\0*"sv, nullptr},
    Format{"JPEG 2000", "\0\0\0\x0CjP"sv, nullptr},
    Format{"WebP or another RIFF", "RIFF"sv, nullptr},
    Format{"JPEG XL", "\xFF\x0A"sv, nullptr},
    Format{"JPEG XL", "\0\0\0\x0CJXL "sv, nullptr},
};

constexpr std::string_view kWhatToDo = "JPEG, PNG and PPM (P5, P6) are read; convert it, or leave it out.";

Result<const Format*> format_of(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) return error(name + ": the file is empty. Fetch it again.");
  for (const auto& format : kFormats) {
    if (!bytes.starts_with(format.signature)) continue;
    if (format.decode == nullptr) return error(fmt::format("{}: is {}. {}", name, format.name, kWhatToDo));
    return &format;
  }
  // AVIF and HEIC begin with a length.
  if (bytes.substr(0, 12).substr(std::min<std::size_t>(4, bytes.size())).starts_with("ftyp")) {
    return error(fmt::format("{}: is AVIF, HEIC or another of that family. {}", name, kWhatToDo));
  }
  const auto first = bytes.find_first_not_of(" \t\r\n");
  const bool page = first != std::string_view::npos && bytes[first] == '<';
  return error(fmt::format("{}: is {}. {}", name,
                           page ? "a web page or XML, no image" : "no image of a known format", kWhatToDo));
}

}  // namespace

Error too_large(std::int64_t height, std::int64_t width, const ImageLimits& limits) {
  return error(
      fmt::format("declares {} x {} pixels; at least 1 x 1, at most {} a side and {} in all are read. "
                  "Make it smaller, or fetch it again if it should be.",
                  width, height, limits.side, limits.pixels));
}

bool begins_image(std::string_view head) {
  for (const auto& format : kFormats) {
    if (format.decode == nullptr || !head.starts_with(format.signature)) continue;
    return format.decode != decode_ppm || begins_ppm(head);
  }
  return false;
}

Result<void> check_format(std::string_view head, const std::string& name) {
  const auto format = format_of(head, name);
  return format ? Result<void>() : Result<void>(format.error());
}

Result<Image> decode_image(std::string_view bytes, const std::string& name, const ImageLimits& limits) {
  const auto format = format_of(bytes, name);
  if (!format) return format.error();
  auto image = (**format).decode(bytes, limits);
  if (!image) return in_context(fmt::format("{} ({})", name, (**format).name), image.error());
  return image;
}

}  // namespace hyfreedp::datasets
