// The statistical tests of a nightly comparison: from plain numbers to p-values. regress.h says
// which test is used for what.
//
// Every shift test is about the null hypothesis "the change d lies within [-margin, margin]",
// margin > 0, and about its opposite:
//
//   alarm        p-value of the null |d| <= margin: twice the smaller of the two one-sided p-values
//                at the nearer margins. An unchanged night (d = 0) is well inside the null, so its
//                false alarms are rarer than stated
//   equivalence  two one-sided tests (Schuirmann 1987): the larger of the p-values of d <= -margin
//                and d >= margin. A small value shows that the two nights are the same within the
//                margin
//
//   paired_shift   t with n - 1 degrees of freedom on the differences of the seeds that both nights
//                  have
//   welch_shift    t with Welch's degrees of freedom on two independent sets of seeds
//   chi_square     X / freedom against the nominal variance 1; change and margin are of log sd:
//                  ratio = exp(change)
//
// `resolution`: values are multiples of it (accuracy over n test examples: 100 / n), so two runs
// that differ may have equal values by chance. The variance of a difference is therefore taken to
// be at least resolution^2 / 6, that of two rounding errors. If nothing varies
// (all differences equal, no resolution) the test is exact: p is 0 or 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "results/table/statistics.h"

namespace hyfreedp::results {

struct ShiftTest {
  double change = 0;          // tonight - reference
  double standard_error = 0;  // 0: nothing varies
  double freedom = 0;
  double alarm_low = 1;          // one-sided p of d >= -margin
  double alarm_high = 1;         // one-sided p of d <= margin
  double equivalence = 1;        // p of |d| >= margin
  std::optional<Interval> seen;  // two-sided interval of the change at `level`

  double alarm() const;
};

struct ShiftRequest {
  double margin = 0;
  double resolution = 0;
  double level = 0.9;  // of `seen`
};

// Returns nothing for fewer than two differences.
std::optional<ShiftTest> paired_shift(std::span<const double> differences, const ShiftRequest& request);
// Returns nothing for fewer than two values on a side.
std::optional<ShiftTest> welch_shift(std::span<const double> tonight, std::span<const double> reference,
                                     const ShiftRequest& request);
// `sum` is the sum of `freedom` squared residuals, which are standard normal under the nominal
// variance. The change is log(sum / freedom) / 2. Returns nothing if there are no residuals.
std::optional<ShiftTest> chi_square(double sum, double freedom, const ShiftRequest& request);

// One-sided exact test (Fisher) of the null that failures are no likelier tonight: numbers of
// failed and of all runs on each side.
double fisher_more_failures(std::int64_t tonight_failed, std::int64_t tonight, std::int64_t reference_failed,
                            std::int64_t reference);

// The smallest number of seeds at which `equivalence` shows two unchanged nights to be the same
// with probability `power` at level `level`: each of its two tests then succeeds with at least
// 1 - (1 - power) / 2 (non-central t with noncentrality margin / se). `sd`: of the paired
// differences, or of one night's values where `paired` is false (n seeds on each side then). For a
// true change d, pass the distance from d to the margin as `margin`: the nearer of the two tests
// then succeeds as often. Returns nothing if more than `kMostSeeds` would be needed.
inline constexpr std::int64_t kMostSeeds = 1000;
struct PowerRequest {
  double sd = 0;
  double margin = 0;
  double level = 0.05;
  double power = 0.8;
  bool paired = true;
};
std::optional<std::int64_t> seeds_needed(const PowerRequest& request);

// Adjusted p-values in the order given; p-values <= alpha are rejected.
//   holm   familywise: the probability of any false rejection is at most alpha, whatever the
//          dependence (Holm 1979)
//   fdr    the expected share of false among the rejections, under positive dependence
//          (Benjamini and Hochberg 1995)
std::vector<double> holm_adjusted(std::span<const double> p);
std::vector<double> fdr_adjusted(std::span<const double> p);

}  // namespace hyfreedp::results
