#include "harness/accounting/discrete_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyfreedp::accounting {
namespace {

// Relative error of a cell's mass, in units of the tail beyond it: a difference of two erfc values.
constexpr double kTailError = 1e-15;

// The share of a cell's P mass that goes to its upper end: both masses are kept by
// r = (1 - (q/p) e^{lower}) / (1 - e^{-step}). `doubt` is added (upper) or taken off (lower) for the rounding in p, q.
double upper_share(double p, double q, double lower, double shrink, double doubt) {
  if (p <= 0) return 0;
  const double ratio = lower < 600 ? q / p * std::exp(lower) : std::exp(std::log(q) - std::log(p) + lower);
  const double share = (1 - ratio) / shrink + doubt / shrink;
  return std::isnan(share) ? 1 : std::clamp(share, 0.0, 1.0);
}

// P mass above each cell, for the rounding bound: a cell's mass is a difference of tails this size at most.
double rounding_of(double tail, double mass) { return mass > 0 ? kTailError * (1 + tail / mass) : 0; }

struct Shares {
  std::vector<double> low;   // P mass to the lower end
  std::vector<double> high;  // P mass to the upper end
};

Shares split_cells(const LossCells& cells, double sign) {
  const std::size_t count = cells.p.size();
  const double shrink = -std::expm1(-cells.step);
  Shares shares{std::vector<double>(count), std::vector<double>(count)};
  double p_tail = cells.p_above;
  for (std::size_t i = count; i-- > 0;) {
    const double p = cells.p[i];
    const double lower = cells.first + static_cast<double>(i) * cells.step;
    const double doubt = sign * rounding_of(std::min(p_tail, 1 - p_tail) + p, p);
    const double share = upper_share(p, cells.q[i], lower, shrink, doubt);
    shares.high[i] = share * p;
    shares.low[i] = p - shares.high[i];
    p_tail += p;
  }
  return shares;
}

// Takes out lattice points of negative mass: their mass goes to the neighbours that remain, keeping P and Q mass,
// which lowers the curve.
void make_convex(DiscreteLoss& loss) {
  const double h = loss.step;
  auto& mass = loss.mass;
  std::vector<std::size_t> kept;
  const auto give_to_neighbours = [&](std::size_t below, std::size_t at, std::size_t above) {
    const double down = h * static_cast<double>(at - below);
    const double up = h * static_cast<double>(above - at);
    const double share = std::expm1(up) / (std::expm1(up) - std::expm1(-down));
    const double amount = mass[at];
    mass[below] += amount * share * std::exp(-down);
    mass[above] += amount * (1 - share) * std::exp(up);
    mass[at] = 0;
  };
  for (std::size_t i = 0; i < mass.size(); ++i) {
    while (!kept.empty() && mass[kept.back()] < 0) {
      const std::size_t at = kept.back();
      kept.pop_back();
      if (kept.empty()) {
        // The lowest point: its Q mass moves up, which lowers the curve as the mass is negative.
        mass[i] += mass[at] * std::exp(h * static_cast<double>(i - at));
        mass[at] = 0;
      } else {
        give_to_neighbours(kept.back(), at, i);
      }
    }
    kept.push_back(i);
  }
  // Points at the top: dropping a negative mass raises the curve by at most its size.
  while (!kept.empty() && mass[kept.back()] < 0) {
    loss.slack -= mass[kept.back()];
    mass[kept.back()] = 0;
    kept.pop_back();
  }
}

}  // namespace

double lattice_anchor(const LossPair& pair) { return std::isfinite(pair.infimum()) ? pair.infimum() : 0.0; }

LossCells loss_cells(const LossPair& pair, double step, double tail) {
  LossCells cells;
  cells.step = step;
  const double anchor = lattice_anchor(pair);
  const double top_point = pair.p_upper_point(tail);
  const double top = std::isfinite(top_point) ? pair.loss(top_point) : pair.supremum();
  double bottom = anchor;
  if (!std::isfinite(pair.infimum())) bottom = pair.loss(pair.q_lower_point(tail));
  const double from = std::floor((bottom - anchor) / step);
  const double to = std::max(from + 1, std::ceil((top - anchor) / step));
  const auto count = static_cast<std::size_t>(to - from);
  cells.first = anchor + from * step;
  std::vector<double> edges(count + 1);
  for (std::size_t i = 0; i <= count; ++i) edges[i] = pair.inverse(anchor + (from + static_cast<double>(i)) * step);
  // Rounding may put the first edge a hair above the infimum; all mass there belongs to the first cell.
  if (std::isfinite(pair.infimum())) edges[0] = -std::numeric_limits<double>::infinity();
  if (std::isfinite(pair.supremum())) edges[count] = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i <= count; ++i) edges[i] = std::max(edges[i], edges[i - 1]);
  pair.cell_masses(edges, cells.p, cells.q);
  cells.p_above = pair.p_above(edges[count]);
  cells.q_above = pair.q_above(edges[count]);
  cells.p_below = pair.p_below(edges[0]);
  cells.q_below = pair.q_below(edges[0]);
  return cells;
}

LossCells exchanged(const LossCells& cells) {
  LossCells other;
  other.step = cells.step;
  other.first = -(cells.first + static_cast<double>(cells.p.size()) * cells.step);
  other.p.assign(cells.q.rbegin(), cells.q.rend());
  other.q.assign(cells.p.rbegin(), cells.p.rend());
  other.p_above = cells.q_below;
  other.q_above = cells.p_below;
  other.p_below = cells.q_above;
  other.q_below = cells.p_above;
  return other;
}

DiscreteLoss discrete_upper(const LossCells& cells) {
  const auto shares = split_cells(cells, 1);
  const std::size_t count = cells.p.size();
  DiscreteLoss loss;
  loss.first = cells.first;
  loss.step = cells.step;
  loss.mass.assign(count + 1, 0);
  loss.mass[0] = cells.p_below;
  for (std::size_t i = 0; i < count; ++i) {
    loss.mass[i] += shares.low[i];
    loss.mass[i + 1] = shares.high[i];
  }
  loss.infinite = cells.p_above;
  return loss;
}

DiscreteLoss discrete_lower(const LossCells& cells) {
  const auto shares = split_cells(cells, -1);
  const std::size_t count = cells.p.size();
  const double h = cells.step;
  const double growth = std::expm1(h);
  const double shrink = std::exp(-h);
  // gap[i]: height of the triangle of the tangents at the ends of cell i, below its chord.
  std::vector<double> gap(count + 2, 0);  // gap[i + 1] is cell i
  for (std::size_t i = 0; i < count; ++i) {
    const double low = shares.low[i];
    const double high = shares.high[i] * shrink;
    gap[i + 1] = low + high > 0 ? growth * low * high / (low + high) : 0;
  }
  std::vector<double> drop(count + 1);
  for (std::size_t i = 0; i <= count; ++i) drop[i] = std::max(gap[i], gap[i + 1]);
  DiscreteLoss loss;
  loss.first = cells.first;
  loss.step = h;
  loss.mass.assign(count + 1, 0);
  for (std::size_t i = 0; i <= count; ++i) {
    const double chord = (i > 0 ? shares.high[i - 1] : 0) + (i < count ? shares.low[i] : 0);
    // Slopes of the lowering, times e^{loss}: linear through x = 0 below the lattice, constant above it.
    const double right = i < count ? (drop[i + 1] - drop[i]) / growth : 0;
    const double left = i > 0 ? (drop[i] - drop[i - 1]) / (growth * shrink) : drop[0];
    loss.mass[i] = chord - (right - left);
  }
  loss.slack = drop[count];
  make_convex(loss);
  return loss;
}

}  // namespace hyfreedp::accounting
