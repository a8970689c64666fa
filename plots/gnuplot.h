// The program that draws figures.
#pragma once

#include "harness/base/program.h"

namespace hyfreedp::plots {

// The error message if gnuplot is absent: what to install.
inline constexpr const char* kNoGnuplot =
    "gnuplot is not installed, so no plots were drawn. Debian: apt-get install gnuplot-nox";

}  // namespace hyfreedp::plots
