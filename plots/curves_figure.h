// A results::CurveFigure as a figure: its panels side by side, one legend of all curves' titles. Curves of one colour number
// share a colour; where several are in one panel they carry sparse markers of different shapes, so that they are told apart
// in grey. A curve of one title in several panels is one entry of the legend.
#pragma once

#include "plots/figure.h"
#include "results/curves.h"

namespace hyfreedp::plots {

Figure curves_figure(const results::CurveFigure& figure);

}  // namespace hyfreedp::plots
