// Makes a figure of a results::CurveFigure: its panels side by side, and one legend of all curves'
// titles. Curves with one colour number share a colour; where several of them are in one panel they
// carry sparse markers of different shapes, so that they can be told apart in grey. A title that
// occurs in several panels is one entry of the legend.
#pragma once

#include "plots/sheet.h"
#include "results/table/curves.h"

namespace hyfreedp::plots {

// `look`: a sheet whose look and size of boxes it gets.
Figure curves_figure(const results::CurveFigure& figure, const Sheet& look = {});

}  // namespace hyfreedp::plots
