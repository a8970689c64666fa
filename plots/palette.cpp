#include "plots/palette.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace hyfreedp::plots {
namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 19> kColours = {{
    {"nondp-gs", "#444444"},      {"dp-hyper", "#CC79A7"},    {"dp-hyper-simulated", "#882255"},
    {"d-adaptation", "#E69F00"},  {"prodigy", "#009E73"},     {"linear-scaling", "#56B4E9"},
    {"dpadamwosm", "#999933"},    {"hyfreedp", "#D55E00"},    {"hyfreedp-plus", "#0072B2"},
    {"dog", "#6F4E37"},           {"dowg", "#AA4499"},        {"random-search", "#332288"},
    {"subset-tuning", "#44AA99"}, {"single-step", "#888888"}, {"dpsgd", "#117733"},
    {"dpmomentum", "#CC6677"},    {"dpadam", "#661100"},      {"adadp", "#6699CC"},
    {"fixed-rate", "#AA7733"},
}};
// Colours for methods that are not in the list: chosen in CIELAB, each at least 29 (CIE 1976) from
// every colour above and from each other, and at least 2.6 : 1 on white.
constexpr std::array<const char*, 12> kFurther = {"#0000FF", "#00B400", "#FF1E00", "#965AFF",
                                                  "#FF0FFF", "#3C4B00", "#FF004B", "#9687F0",
                                                  "#8700A5", "#694B78", "#FF0096", "#FF5AE1"};

// solid, dashed, dotted, dash-dotted
constexpr std::array<int, 4> kDashes = {1, 2, 3, 4};
// circle, square, triangle, diamond, ...
constexpr std::array<int, 8> kMarkers = {7, 5, 9, 13, 11, 6, 4, 8};

std::optional<std::string> listed_colour(const std::string& method) {
  for (const auto& [name, colour] : kColours) {
    if (name == method) return colour;
  }
  return std::nullopt;
}

// std::hash may differ between libraries, so it is not used.
std::size_t hash_of(const std::string& text) {
  std::size_t sum = 0;
  for (const unsigned char byte : text) sum = sum * 31 + byte;
  return sum;
}

}  // namespace

MethodColours::MethodColours(std::vector<std::string> methods) {
  std::sort(methods.begin(), methods.end());
  std::set<std::size_t> taken;
  for (const auto& method : methods) {
    if (colours_.contains(method)) continue;
    if (const auto listed = listed_colour(method)) {
      colours_[method] = *listed;
      continue;
    }
    if (taken.size() == kFurther.size()) taken.clear();  // more than there are: they begin again
    auto place = hash_of(method) % kFurther.size();
    while (taken.contains(place)) place = (place + 1) % kFurther.size();
    taken.insert(place);
    colours_[method] = kFurther[place];
  }
}

LineStyle MethodColours::style(const std::string& method, std::size_t variant, std::size_t row) const {
  return {.colour = colours_.at(method),
          .dash = kDashes[variant % kDashes.size()],
          .marker = kMarkers[row % kMarkers.size()]};
}

LineStyle style_of_number(int number, bool dashed) {
  static constexpr std::array<const char*, 8> kNumbered = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                           "#222222", "#E69F00", "#56B4E9", "#6F4E37"};
  const auto index = static_cast<std::size_t>(number < 0 ? -number : number);
  const bool again = index / kNumbered.size() % 2 == 1;
  return {.colour = kNumbered[index % kNumbered.size()],
          .dash = dashed ? (again ? 4 : 2) : (again ? 3 : 1),
          .marker = kMarkers[index % kMarkers.size()]};
}

}  // namespace hyfreedp::plots
