// An SVG file as a piece of an HTML page: without prologue, with ids that no other picture of the page has, and with a text
// for readers who do not see it.
#pragma once

#include <string>

namespace hyfreedp::plots {

std::string inline_svg(const std::string& svg, const std::string& name, const std::string& description);

}  // namespace hyfreedp::plots
