#include "baselines/linear_rule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "harness/accounting/accountant.h"

namespace hyfreedp::baselines::linear_rule {
namespace {

// of rounding, in a comparison of r with a bound or in a number of steps
constexpr double kSlack = 1e-12;

Run corner(double eta, std::int64_t steps, std::string clamp) {
  return {.eta = eta,
          .steps = steps,
          .r = eta * static_cast<double>(steps),
          .clamp = std::move(clamp),
          .method = "corner",
          .tries = 0};
}

template <class Value>
const Value& element(const std::vector<Value>& grid, double uniform) {
  const auto index = static_cast<std::size_t>(uniform * static_cast<double>(grid.size()));
  return grid[std::min(index, grid.size() - 1)];
}

Run uniform_t(const Space& space, double r, double uniform) {
  // At r a hair above r_max the quotient rounds up beyond t_max; the learning rate takes the hair.
  const auto least = static_cast<std::int64_t>(std::ceil(r / space.eta_max - kSlack));
  const auto low = std::min(std::max(space.t_min, least), space.t_max);
  const auto high = std::min(space.t_max, static_cast<std::int64_t>(std::floor(r / space.eta_min + kSlack)));
  const auto choices = std::max<std::int64_t>(high - low + 1, 1);
  const auto steps =
      low + std::min(static_cast<std::int64_t>(uniform * static_cast<double>(choices)), choices - 1);
  return {.eta = r / static_cast<double>(steps), .steps = steps, .r = r, .method = "uniform_T", .tries = 1};
}

Run on_grid(double eta, std::int64_t steps, std::string method, std::int64_t tries) {
  return {.eta = eta,
          .steps = steps,
          .r = eta * static_cast<double>(steps),
          .method = std::move(method),
          .tries = tries};
}

// Ties: the smaller T, then the smaller eta.
Run nearest_on_grid(const Space& space, double r, std::int64_t tries) {
  double best_distance = std::numeric_limits<double>::infinity();
  Run best;
  for (const auto steps : space.t_grid) {
    for (const double eta : space.eta_grid) {
      const double distance = std::abs(eta * static_cast<double>(steps) - r);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = on_grid(eta, steps, "nearest_on_grid", tries);
    }
  }
  return best;
}

Run rejection(const Space& space, double r, const std::function<double()>& uniform) {
  for (std::int64_t tries = 1; tries <= space.max_tries; ++tries) {
    const double eta = element(space.eta_grid, uniform());
    const auto steps = element(space.t_grid, uniform());
    if (std::abs(eta * static_cast<double>(steps) - r) <= space.tolerance * r) {
      return on_grid(eta, steps, "rejection", tries);
    }
  }
  return nearest_on_grid(space, r, space.max_tries);
}

// Never beyond the bound that r was clamped to: T is rounded down where the nearest one would pass
// r_max.
Run fixed_eta(const Space& space, double r, std::string clamp) {
  const double most =
      std::min(std::floor(space.r_max() / space.eta_max + kSlack), static_cast<double>(space.t_max));
  const double least = static_cast<double>(space.t_min);
  const double steps = std::clamp(std::round(r / space.eta_max), least, std::max(most, least));
  auto run = on_grid(space.eta_max, static_cast<std::int64_t>(steps), "fixed_eta", 1);
  run.clamp = std::move(clamp);
  return run;
}

}  // namespace

double Space::r_max() const {
  const double corner_r = eta_max * static_cast<double>(t_max);
  return r_cap > 0 ? std::min(r_cap, corner_r) : corner_r;
}

Range first_range(const Space& space, bool narrowed) {
  const double high = narrowed ? space.r_max() / 10 : space.r_max();
  return {space.r_min(), std::max(high, space.r_min())};
}

Range second_range(const Space& space, bool narrowed, double best_first) {
  if (!narrowed) return first_range(space, false);
  return {best_first, std::max(best_first, space.r_max() / 2)};
}

Range third_range(const Space& space, bool narrowed, double best_second) {
  if (!narrowed) return first_range(space, false);
  return {best_second, std::max(best_second, space.r_max())};
}

double sample(const Range& range, bool logarithmic, double uniform) {
  if (!logarithmic) return range.low + uniform * (range.high - range.low);
  return std::exp(std::log(range.low) + uniform * (std::log(range.high) - std::log(range.low)));
}

Run decompose(const Space& space, double r, const std::function<double()>& uniform) {
  const bool fixed = space.decompose == Decompose::fixed_eta;
  if (r > space.r_max() * (1 + kSlack)) {
    if (fixed) return fixed_eta(space, space.r_max(), "capped_r_max");
    return corner(space.r_max() / static_cast<double>(space.t_max), space.t_max, "capped_r_max");
  }
  // Written so that a NaN lands here.
  if (!(r >= space.r_min() * (1 - kSlack))) {
    if (fixed) return fixed_eta(space, space.r_min(), "floored_r_min");
    return corner(space.eta_min, space.t_min, "floored_r_min");
  }
  if (fixed) return fixed_eta(space, r, "none");
  if (space.decompose == Decompose::rejection) return rejection(space, r, uniform);
  return uniform_t(space, r, uniform());
}

Run draw_both(const Space& space, const std::function<double()>& uniform) {
  const auto choices = space.t_max - space.t_min + 1;
  const auto steps =
      space.t_min +
      std::min(static_cast<std::int64_t>(uniform() * static_cast<double>(choices)), choices - 1);
  const double drawn = space.eta_min + uniform() * (space.eta_max - space.eta_min);
  const double eta = std::min(drawn, space.r_max() / static_cast<double>(steps));
  auto run = on_grid(eta, steps, "uniform_both", 1);
  if (eta < drawn) run.clamp = "capped_r_max";
  return run;
}

Line line_through(double x1, double r1, double x2, double r2) {
  const double slope = (r2 - r1) / (x2 - x1);
  return {slope, r1 - slope * x1};
}

double extrapolate(Fit fit, std::span<const Point> points, double x) {
  if (fit == Fit::line && points.size() == 2) {
    return line_through(points[0].x, points[0].r, points[1].x, points[1].r).at(x);
  }
  if (fit == Fit::quadratic) {  // Lagrange's form
    double r = 0;
    for (const auto& point : points) {
      double weight = 1;
      for (const auto& other : points) {
        if (&other != &point) weight *= (x - other.x) / (point.x - other.x);
      }
      r += weight * point.r;
    }
    return r;
  }
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_r = 0;
  for (const auto& point : points) {
    mean_x += point.x / count;
    mean_r += point.r / count;
  }
  double covariance = 0;
  double variance = 0;
  for (const auto& point : points) {
    covariance += (point.x - mean_x) * (point.r - mean_r);
    variance += (point.x - mean_x) * (point.x - mean_x);
  }
  return mean_r + covariance / variance * (x - mean_x);
}

Result<Budget> split_total(double total, double delta, std::int64_t n, std::span<const double> epsilons,
                           const std::string& accountant) {
  const auto mu = accounting::mu_of_epsilon(total, delta, accountant);
  if (!mu) return mu.error();
  Budget budget;
  double squares = 0;
  for (const double epsilon : epsilons) {
    const auto of_sweep = accounting::mu_of_epsilon(epsilon, delta, accountant);
    if (!of_sweep) return of_sweep.error();
    budget.mu.push_back(*of_sweep);
    squares += *of_sweep * *of_sweep;
  }
  const double rest = *mu * *mu - static_cast<double>(n) * squares;
  if (!(rest > 0)) {
    return error(fmt::format(
        "The {} sweep runs at epsilon {} alone cost more than epsilon {}; lower 'share1', 'share2', "
        "'share3' or 'runs_per_sweep'.",
        static_cast<std::int64_t>(epsilons.size()) * n, fmt::join(epsilons, ", "), total));
  }
  const auto epsilon_final = accounting::epsilon_of_mu(std::sqrt(rest), delta, accountant);
  if (!epsilon_final) return epsilon_final.error();
  budget.mu_final = std::sqrt(rest);
  budget.epsilon_final = *epsilon_final;
  return budget;
}

double sigma(std::int64_t steps, double mu) { return std::sqrt(static_cast<double>(steps)) / mu; }

}  // namespace hyfreedp::baselines::linear_rule
