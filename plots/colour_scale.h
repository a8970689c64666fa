// A colour scale for numbers: viridis (van der Walt & Smith 2015, CC0), by its eleven anchors. Its
// lightness increases evenly, so that it can be read in grey and by colour-blind readers.
#pragma once

#include <string>
#include <vector>

namespace hyfreedp::plots {

// The colour at `share` in [0, 1]: 0 is the darkest, 1 the lightest.
std::string scale_colour(double share);
std::vector<std::string> scale_colours(bool reversed);  // for a colour bar, from low to high
// True if white text has more contrast on this colour than black text (WCAG's relative luminance).
bool is_dark(const std::string& colour);
// The colour mixed with white; `share` 0 is white, 1 the colour.
std::string tint(const std::string& colour, double share);

}  // namespace hyfreedp::plots
