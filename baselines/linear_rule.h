// The linear scaling rule as pure arithmetic: Panda, Tang, Nasr, Choquette-Choo & Mittal, ICML
// 2024, Algorithms 1-3.
//
// A run is described by r = eta T alone. n runs at epsilon_1 and n at epsilon_2 have r drawn
// uniformly; the best r of each sweep gives a line r(epsilon), whose value at epsilon_f is the
// final run's r. With full batches, a run of T steps at noise sigma is sqrt(T)/sigma-GDP, and all
// runs together are mu-GDP with mu^2 = n mu_1^2 + n mu_2^2 + mu_f^2. Their Table 15 adds a third
// sweep, with a least-squares line or a parabola through the three points.
//
// Differences from the published script
//   - The script truncates r to an integer and does not terminate for r <= 0; here r is real.
//   - It redraws (eta, T) without limit until eta T is near r; here at most `max_tries` times, then
//     the nearest grid point is taken.
//   - Its r may leave the search range; here r is clamped to the range, with a typed outcome.
//   - It chooses runs by test accuracy; here by the caller's score, which is noised and priced.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::baselines::linear_rule {

// The ways to divide r into eta and T. (The paper's appendix A.3 has the first two, and drawing
// both uniformly: draw_both.)
enum class Decompose {
  uniform_t,  // T uniform among those that keep eta in range, eta = r / T. Fixed T: t_min = t_max
  rejection,  // eta and T from grids until |eta T - r| <= tolerance r; r becomes eta T
  fixed_eta,  // eta = eta_max, T = r / eta rounded into its range; r becomes eta T
};

struct Space {
  double eta_min = 0;
  double eta_max = 0;
  std::int64_t t_min = 1;
  std::int64_t t_max = 1;
  double r_cap = 0;  // upper limit of r; 0: eta_max t_max
  Decompose decompose = Decompose::uniform_t;
  // The next two: for rejection only.
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
// The ranges of r in Algorithm 3. Not narrowed: [r_min, r_max] in both sweeps. Narrowed, as in the
// authors' script: the first sweep goes up to r_max / 10, the second from the first's best to
// r_max / 2.
Range first_range(const Space& space, bool narrowed);
Range second_range(const Space& space, bool narrowed, double best_first);
// The range of a third sweep, which the script does not have. Narrowed: from the second's best to
// r_max.
Range third_range(const Space& space, bool narrowed, double best_second);
double sample(const Range& range, bool logarithmic, double uniform);

struct Run {
  double eta = 0;
  std::int64_t steps = 0;
  double r = 0;                // realised eta T
  std::string clamp = "none";  // "capped_r_max", "floored_r_min"
  // "uniform_T", "rejection", "nearest_on_grid", "fixed_eta", "uniform_both" or "corner"
  std::string method;
  std::int64_t tries = 0;
};
// Draws eta and T for r; `uniform()` returns the next draw in [0, 1). If r is outside the range,
// negative or not finite, the corner of the range is returned without a draw.
Run decompose(const Space& space, double r, const std::function<double()>& uniform);
// Draws T uniformly, then eta uniformly, each in its range; eta is lowered where the product would
// exceed r_max.
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

// The value r at `x`, from points whose x all differ.
enum class Fit {
  line,       // two points: through both; more: least squares
  quadratic,  // three points: the parabola through them
};
double extrapolate(Fit fit, std::span<const Point> points, double x);

// The budget of each kind of run, as mu of Gaussian differential privacy.
struct Budget {
  std::vector<double> mu;  // of a run of each sweep
  double mu_final = 0;
  double epsilon_final = 0;
};
// The budget whose runs, n in each sweep at its epsilon and the final one, together cost the
// epsilon `total` at `delta` by `accountant`: this is solved for the final run's mu. An error if
// the sweeps alone cost more.
Result<Budget> split_total(double total, double delta, std::int64_t n, std::span<const double> epsilons,
                           const std::string& accountant);
double sigma(std::int64_t steps, double mu);

}  // namespace hyfreedp::baselines::linear_rule
