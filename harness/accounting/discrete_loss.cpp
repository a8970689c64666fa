#include "harness/accounting/discrete_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hyfreedp::accounting {
namespace {

// The share of a cell's P mass that goes to its upper end: both masses are kept by
// r = (1 - (q/p) e^{lower}) / (1 - e^{-step}). `doubt` is added (upper) or taken off (lower) for the rounding in p, q.
double upper_share(double p, double q, double lower, double shrink, double doubt) {
  if (p <= 0) return 0;
  const double ratio = lower < 600 ? q / p * std::exp(lower) : std::exp(std::log(q) - std::log(p) + lower);
  const double share = (1 - ratio) / shrink + doubt / shrink;
  return std::isnan(share) ? 1 : std::clamp(share, 0.0, 1.0);
}

struct Shares {
  std::vector<double> low;   // P mass to the lower end
  std::vector<double> high;  // P mass to the upper end
};

Shares split_cells(const LossCells& cells, double sign) {
  const std::size_t count = cells.p.size();
  const double shrink = -std::expm1(-cells.step);
  Shares shares{std::vector<double>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const double p = cells.p[i];
    const double lower = cells.first + static_cast<double>(i) * cells.step;
    const double share = upper_share(p, cells.q[i], lower, shrink, sign * cells.doubt[i]);
    shares.high[i] = share * p;
    shares.low[i] = p - shares.high[i];
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

// The two ends of the lowered curve. Below the lowest point it is the line 1 - x, and above the highest it is 0; both lie
// below the true curve. bottom[i] and top[i] are how far they lie below it at lattice point i.
struct Ends {
  std::vector<double> bottom;
  std::vector<double> top;
};

Ends curve_ends(const LossCells& cells, const Shares& shares) {
  const std::size_t count = cells.p.size();
  const double rise = std::expm1(cells.step);
  const double fall = -std::expm1(-cells.step);
  Ends ends{std::vector<double>(count + 1), std::vector<double>(count + 1)};
  double p_below = cells.p_below;
  ends.bottom[0] = std::max(0.0, std::exp(cells.first) * cells.q_below - cells.p_below);
  for (std::size_t i = 0; i < count; ++i) {
    ends.bottom[i + 1] = ends.bottom[i] * (1 + rise) + (p_below + shares.low[i]) * rise;
    p_below += shares.low[i] + shares.high[i];
  }
  const double last = cells.first + static_cast<double>(count) * cells.step;
  double weighted = cells.q_above > 0 ? std::exp(last + std::log(cells.q_above)) : 0;
  ends.top[count] = std::max(0.0, cells.p_above - weighted);
  for (std::size_t i = count; i > 0; --i) {
    weighted += shares.high[i - 1];
    ends.top[i - 1] = ends.top[i] + weighted * fall;
    weighted = weighted * (1 - fall) + shares.low[i - 1];
  }
  return ends;
}

// The curve lowered between two lattice points, the line 1 - x below them and 0 above.
DiscreteLoss lowered(const LossCells& cells, const Shares& shares, const Ends& ends,
                     const std::vector<double>& gap, std::size_t bottom, std::size_t top) {
  const std::size_t count = cells.p.size();
  const double growth = std::expm1(cells.step);
  const double shrink = std::exp(-cells.step);
  std::vector<double> drop(count + 1, 0);
  for (std::size_t i = bottom + 1; i < top; ++i) drop[i] = std::max(gap[i - 1], gap[i]);
  drop[bottom] = std::max(ends.bottom[bottom], gap[bottom]);
  drop[top] = ends.top[top];
  DiscreteLoss loss;
  loss.first = cells.first;
  loss.step = cells.step;
  loss.mass.assign(count + 1, 0);
  double p_below = cells.p_below;
  for (std::size_t i = 0; i < bottom; ++i) p_below += shares.low[i] + shares.high[i];
  double p_above = cells.p_above;
  for (std::size_t i = count; i > top; --i) p_above += shares.low[i - 1] + shares.high[i - 1];
  for (std::size_t i = bottom; i <= top; ++i) {
    // Changes of slope, times e^{loss}: of the chords, less that of the lowering. p_below + drop is the Q mass below.
    double mass = 0;
    if (i > bottom) mass += shares.high[i - 1] + (drop[i] - drop[i - 1]) / (growth * shrink);
    if (i < top) mass += shares.low[i] - (drop[i + 1] - drop[i]) / growth;
    if (i == bottom) mass += p_below + drop[i];
    if (i == top) mass += p_above - ends.top[i];
    loss.mass[i] = mass;
  }
  if (ends.top[top] < gap[top - 1]) loss.slack = gap[top - 1];
  make_convex(loss);
  return loss;
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
  for (std::size_t i = 0; i <= count; ++i)
    edges[i] = pair.inverse(anchor + (from + static_cast<double>(i)) * step);
  // Rounding may put the first edge a hair above the infimum; all mass there belongs to the first cell.
  if (std::isfinite(pair.infimum())) edges[0] = -std::numeric_limits<double>::infinity();
  if (std::isfinite(pair.supremum())) edges[count] = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i <= count; ++i) edges[i] = std::max(edges[i], edges[i - 1]);
  pair.cell_masses(edges, cells.p, cells.q, cells.doubt);
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
  other.doubt.assign(cells.doubt.rbegin(), cells.doubt.rend());
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
  const auto ends = curve_ends(cells, shares);
  const std::size_t count = cells.p.size();
  const double h = cells.step;
  const double growth = std::expm1(h);
  const double shrink = std::exp(-h);
  // Height of the triangle of the tangents at the ends of cell i, below its chord.
  std::vector<double> gap(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double low = shares.low[i];
    const double high = shares.high[i] * shrink;
    gap[i] = low + high > 0 ? growth * low * high / (low + high) : 0;
  }
  // The lowest and highest points where the end lines already lie low enough for the cell inside of them.
  std::size_t bottom = 0;
  while (bottom + 1 < count && ends.bottom[bottom] < gap[bottom]) ++bottom;
  std::size_t top = count;
  while (top > bottom + 1 && ends.top[top] < gap[top - 1]) --top;
  DiscreteLoss loss = lowered(cells, shares, ends, gap, bottom, top);
  if (bottom > 0 && ends.bottom[bottom] > 2 * gap[bottom]) {
    // Where the loss piles up within a cell that line may be far too low; the point before it, with a steeper line, may
    // lose less. Less lost: the larger second moment under Q, given no slack.
    DiscreteLoss other = lowered(cells, shares, ends, gap, bottom - 1, top);
    const auto goodness = [](const DiscreteLoss& candidate) {
      double moment = 0;
      double growing = std::exp(candidate.first);
      const double ratio = std::exp(candidate.step);
      for (const double mass : candidate.mass) {
        moment += mass * growing;
        growing *= ratio;
      }
      return std::pair(candidate.slack < 1e-14, moment);
    };
    if (goodness(other) > goodness(loss)) loss = std::move(other);
  }
  return loss;
}

}  // namespace hyfreedp::accounting
