// The linear scaling rule as pure arithmetic: Panda, Tang, Nasr, Choquette-Choo & Mittal, ICML 2024, Algorithms 1-3.
//
// A run is described by r = eta T alone. n runs at epsilon_1 and n at epsilon_2, r drawn uniformly; the best r of each
// gives a line r(epsilon), which is read off at epsilon_f for the final run. Full batches: a run of T steps at noise
// sigma is sqrt(T)/sigma-GDP, and all runs together are mu-GDP with mu^2 = n mu_1^2 + n mu_2^2 + mu_f^2. Their Table 15 adds a
// third sweep, with a least-squares line or a parabola through the three points.
//
// Hazards of the published script, and what is done here
//   r is truncated to an integer (0 or negative r never ends)      r stays real
//   (eta, T) are redrawn until eta T is near r, without a bound    at most `max_tries`, then the nearest grid point
//   r may leave the search range                                   clamped to its corner, with a typed outcome
//   runs are chosen by test accuracy                               the caller's score: noised and priced
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::baselines::linear_rule {

// How r becomes eta and T (the paper's appendix A.3 names the first two and drawing both uniformly: draw_both).
enum class Decompose {
  uniform_t,  // T uniform among those that keep eta in range, eta = r / T: r is met exactly. Fixed T: t_min = t_max
  rejection,  // eta and T from grids until |eta T - r| <= tolerance r; the run's r is the realised eta T
  fixed_eta,  // eta = eta_max, T = r / eta rounded into its range; the run's r is the realised eta T
};

struct Space {
  double eta_min = 0;
  double eta_max = 0;
  std::int64_t t_min = 1;
  std::int64_t t_max = 1;
  double r_cap = 0;  // 0: eta_max t_max
  Decompose decompose = Decompose::uniform_t;
  // rejection only
  double tolerance = 0.05;
  std::int64_t max_tries = 1000;
  std::vector<double> eta_grid = {};
  std::vector<std::int64_t> t_grid = {};

  double r_min() const { return eta_min * static_cast<double>(t_min); }
  double r_max() const;
};

struct Range {
  double low = 0;
  double high = 0;
};
// Algorithm 3's search space. full: [r_min, r_max] in both sweeps. narrowed, as the authors' script: first sweep up to
// r_max / 10, second from the first's best to r_max / 2.
Range first_range(const Space& space, bool narrowed);
Range second_range(const Space& space, bool narrowed, double best_first);
// Of a third sweep, which the script does not have: narrowed, from the second's best to r_max.
Range third_range(const Space& space, bool narrowed, double best_second);
double sample(const Range& range, bool logarithmic, double uniform);

struct Run {
  double eta = 0;
  std::int64_t steps = 0;
  double r = 0;                // realised eta T
  std::string clamp = "none";  // "capped_r_max", "floored_r_min"
  std::string method;  // "uniform_T", "rejection", "nearest_on_grid", "fixed_eta", "uniform_both", "corner"
  std::int64_t tries = 0;
};
// `uniform()` gives the next draw of [0, 1). r outside the range, negative or not finite: the corner, without a draw.
Run decompose(const Space& space, double r, const std::function<double()>& uniform);
// T uniform, then eta uniform, each in its range; eta is lowered where the product would pass r_max.
Run draw_both(const Space& space, const std::function<double()>& uniform);

struct Point {
  double x = 0;  // epsilon or mu of a sweep
  double r = 0;  // of its best run
};
struct Line {
  double slope = 0;
  double bias = 0;
  double at(double x) const { return slope * x + bias; }
};
Line line_through(double x1, double r1, double x2, double r2);

// r at `x`, from points whose x all differ.
enum class Fit {
  line,       // two points: through both; more: least squares
  quadratic,  // three points: the parabola through them
};
double extrapolate(Fit fit, std::span<const Point> points, double x);

// The budget of each kind of run, exact for Gaussians.
struct Budget {
  std::vector<double> mu;  // of a run of each sweep
  double mu_final = 0;
  double epsilon_final = 0;
};
// mu_f solved so that the n runs of each sweep, at its epsilon, and the final one cost `total` at delta; an error when the
// sweeps alone cost more.
Result<Budget> split_total(double total, double delta, std::int64_t n, std::span<const double> epsilons);
double sigma(std::int64_t steps, double mu);

}  // namespace hyfreedp::baselines::linear_rule
