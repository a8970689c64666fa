// Sums over phases that turn from term to term, the inner loop of contour.h and inversion.h.
#pragma once

#include <complex>
#include <cstddef>

namespace hyfreedp::accounting {

// The sum of re + i im, then each of them times its turn_re + i turn_im. Four strands make the sum,
// so that vectors do not change its bits.
std::complex<double> sum_and_turn(double* re, double* im, const double* turn_re, const double* turn_im,
                                  std::size_t size);

}  // namespace hyfreedp::accounting
