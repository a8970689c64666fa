// Makes an SVG file part of an HTML page: it removes the prologue, makes ids unique in the page,
// and adds an alternative text.
#pragma once

#include <string>

namespace hyfreedp::plots {

// Shows `width` by `height` of the picture from its upper left corner, in the units of its viewBox.
std::string inline_svg(const std::string& svg, const std::string& name, const std::string& description,
                       double width, double height);

}  // namespace hyfreedp::plots
