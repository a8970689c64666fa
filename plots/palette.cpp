#include "plots/palette.h"

#include <array>
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
// For methods that are not in the list, by their name.
constexpr std::array<const char*, 4> kFurther = {"#6F4E37", "#44AA99", "#332288", "#AA4499"};

// solid, dashed, dotted, dash-dotted
constexpr std::array<int, 4> kDashes = {1, 2, 3, 4};
// circle, square, triangle, diamond, ...
constexpr std::array<int, 8> kMarkers = {7, 5, 9, 13, 11, 6, 4, 8};

}  // namespace

LineStyle style_of(const std::string& method, std::size_t variant, std::size_t row) {
  LineStyle style;
  style.dash = kDashes[variant % kDashes.size()];
  style.marker = kMarkers[row % kMarkers.size()];
  for (const auto& [name, colour] : kColours) {
    if (name == method) {
      style.colour = colour;
      return style;
    }
  }
  std::size_t sum = 0;  // not std::hash, which may differ between libraries
  for (const unsigned char byte : method) sum = sum * 31 + byte;
  style.colour = kFurther[sum % kFurther.size()];
  return style;
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
