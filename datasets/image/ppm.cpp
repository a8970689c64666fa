#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "datasets/image/codecs.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kLargestNumber = 1'000'000'000;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Takes white space, comments (# to the end of a line) and one decimal number off the front.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  while (!rest.empty() && (is_space(rest.front()) || rest.front() == '#')) {
    if (rest.front() == '#') {
      rest.remove_prefix(std::min(rest.find_first_of("\r\n"), rest.size()));
    } else {
      rest.remove_prefix(1);
    }
  }
  std::int64_t value = 0;
  bool any = false;
  for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1), any = true) {
    value = value * 10 + (rest.front() - '0');
    if (value > kLargestNumber) return std::nullopt;
  }
  return any ? std::optional(value) : std::nullopt;
}

// The width and the height, taken off the front.
std::optional<std::pair<std::int64_t, std::int64_t>> take_sides(std::string_view& rest) {
  if (rest.empty() || (!is_space(rest.front()) && rest.front() != '#')) return std::nullopt;
  const auto width = take_number(rest);
  const auto height = width ? take_number(rest) : std::nullopt;
  return height ? std::optional(std::pair(*width, *height)) : std::nullopt;
}

}  // namespace

bool begins_ppm(std::string_view head) {
  auto rest = head.substr(2);
  return take_sides(rest).has_value();
}

Result<Image> decode_ppm(std::string_view bytes, const ImageLimits& limits) {
  const bool grey = bytes[1] == '5';
  auto rest = bytes.substr(2);
  const auto sides = take_sides(rest);
  const auto largest = sides ? take_number(rest) : std::nullopt;
  if (!largest || rest.empty() || !is_space(rest.front())) {
    return error("its header is not width, height, largest value and one blank; the file is damaged.");
  }
  const auto [width, height] = *sides;
  rest.remove_prefix(1);
  if (*largest != 255) {
    return error(fmt::format("its largest value is {}; only 255 is read. Convert it to 8 bits.", *largest));
  }
  if (!fits(height, width, limits)) return too_large(height, width, limits);
  const auto values = bytes_of(height, width);
  const auto wanted = grey ? values / 3 : values;
  if (rest.size() < wanted) {
    return error(fmt::format("has {} of {} bytes of pixels; the file is truncated. Fetch it again.",
                             rest.size(), wanted));
  }
  Image image{.height = height, .width = width, .pixels = std::vector<std::uint8_t>(values)};
  if (!grey) {
    std::copy_n(rest.begin(), wanted, image.pixels.begin());
    return image;
  }
  auto out = image.pixels.begin();
  for (const char byte : rest.substr(0, wanted)) out = std::fill_n(out, 3, static_cast<std::uint8_t>(byte));
  return image;
}

}  // namespace hyfreedp::datasets
