// A scale of colours for numbers: viridis (van der Walt & Smith 2015, CC0), by its eleven anchors. Its lightness grows evenly,
// so that it reads the same in grey and for the colour-blind.
#pragma once

#include <string>
#include <vector>

namespace hyfreedp::plots {

// 0: darkest, 1: lightest.
std::string scale_colour(double share);
std::vector<std::string> scale_colours(bool reversed);  // for a colour bar, from low to high
// Whether white is read better on it than black (WCAG's relative luminance).
bool is_dark(const std::string& colour);
// Mixed with white: `share` 0 is white.
std::string tint(const std::string& colour, double share);

}  // namespace hyfreedp::plots
