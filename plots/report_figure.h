// A figure in the report: the SVG without its legend, and the legend as text of the page, which
// stands beside it where there is room and beneath it on a narrow screen. The picture scrolls by
// itself where the page is narrower than it can be read.
#pragma once

#include <string>

#include "plots/figure.h"

namespace hyfreedp::plots {

// `svg`: as gnuplot wrote it; `prefix`: of the ids inside, of no other picture of the page. Where a
// text of the figure reaches into the legend's place, the legend stays in the picture.
std::string report_figure(const Figure& figure, const std::string& svg, const std::string& prefix);

}  // namespace hyfreedp::plots
