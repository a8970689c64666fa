#include "plots/colour_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace hyfreedp::plots {
namespace {

constexpr std::array<const char*, 11> kViridis = {"#440154", "#482475", "#414487", "#355F8D",
                                                  "#2A788E", "#21918C", "#22A884", "#44BF70",
                                                  "#7AD151", "#BDDF26", "#FDE725"};
constexpr int kSlices = 64;
constexpr double kDarkest = 0.179;  // where black and white have the same contrast

using Rgb = std::array<double, 3>;  // 0 to 255

Rgb parts(const std::string& colour) {
  const long all = std::strtol(colour.c_str() + 1, nullptr, 16);
  return {double(all >> 16 & 255), double(all >> 8 & 255), double(all & 255)};
}

std::string mixed(const Rgb& a, const Rgb& b, double share) {
  std::string text = "#";
  for (std::size_t i = 0; i < 3; ++i)
    text += fmt::format("{:02X}", std::lround(a[i] + share * (b[i] - a[i])));
  return text;
}

double linear(double part) {
  const double share = part / 255;
  return share <= 0.03928 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

}  // namespace

std::string scale_colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  return mixed(parts(kViridis[below]), parts(kViridis[below + 1]), at - static_cast<double>(below));
}

std::vector<std::string> scale_colours(bool reversed) {
  std::vector<std::string> colours;
  for (int i = 0; i < kSlices; ++i) {
    const double share = i / double(kSlices - 1);
    colours.push_back(scale_colour(reversed ? 1 - share : share));
  }
  return colours;
}

bool is_dark(const std::string& colour) {
  const auto [red, green, blue] = parts(colour);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) < kDarkest;
}

std::string tint(const std::string& colour, double share) {
  return mixed({255, 255, 255}, parts(colour), share);
}

}  // namespace hyfreedp::plots
