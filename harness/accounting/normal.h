// Tails of the standard normal distribution with small relative error.
#pragma once

namespace hyfreedp::accounting {

// exp(x^2) erfc(x), for x >= -26 (below, it overflows); relative error a few 1e-15.
double erfcx(double x);
// P(Z > x).
double normal_tail(double x);
// log P(Z > x), finite for every finite x.
double log_normal_tail(double x);
// The x with P(Z > x) = p, 0 < p < 1; accurate for p down to 1e-300.
double normal_tail_inverse(double p);

// P(middle - width/2 < Z < middle + width/2) / (width * density(middle)) for a short interval,
// where the difference of two tails would cancel. It is the sum over k of width^{2k}
// He_{2k}(middle) / (4^k (2k+1)!). `reach` is at least width (1 + |middle|) and below kShortCell;
// the truncation error is below 3e-17, relative.
inline constexpr double kShortCell = 0.6;
double normal_cell(double middle, double width, double reach);

}  // namespace hyfreedp::accounting
