#include "harness/accounting/discrete_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/accounting/exp_sequence.h"
#include "harness/accounting/normal.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestExponent = 600;  // beyond it products with e^loss are formed in logarithms

constexpr double kLostMass = 1e-9;  // more than rounding makes of a sum of masses

// Relative error of e^loss from a sequence of products.
double exponential_doubt(double loss) { return 1e-14 + 4e-16 * std::abs(loss); }

// q e^loss.
double scaled(double q, double loss) {
  if (loss < kLargestExponent) return q * std::exp(loss);
  return q > 0 ? std::exp(std::log(q) + loss) : 0;
}

// Gathers cells into groups whose losses are lattice points.
class Gatherer {
 public:
  Gatherer(double origin, double step, DiscreteLoss& loss) : origin_(origin), step_(step), loss_(loss) {}

  // The next cell upwards: its masses, P rounded down and Q up, with p > 0.
  void take(double p, double q) {
    if (!started_) {
      const double at = std::floor((std::log(p) - std::log(q) - origin_) / step_);
      if (!std::isfinite(at)) return;
      start(static_cast<std::int64_t>(at));
    }
    double excess = surplus(p, q);
    // A cell above the group's loss makes up for what lies below it; the group is complete when
    // they balance.
    while (excess > lack_ + kBalance * p) {
      if (lack_ > 0) {
        const double share = lack_ / excess;
        gathered_ += share * p;
        p *= 1 - share;
        q *= 1 - share;
      }
      close();
      if (!advance()) {
        gathered_ = p;  // a loss beyond the top of the lattice is lowered to it
        lack_ = 0;
        return;
      }
      excess = surplus(p, q);
    }
    gathered_ += p;
    gathered_q_ += q;
    lack_ = std::max(0.0, lack_ - excess);
  }

  // The last group may lie below its lattice point: it is lowered to the next one that does not.
  void finish() {
    if (!started_ || gathered_ <= 0) return;
    if (lack_ <= 0) return close();
    const double place = std::floor((std::log(gathered_) - std::log(gathered_q_) - origin_) / step_ - 1e-9);
    const double index = place - static_cast<double>(first_);
    if (index >= 0 && index < static_cast<double>(loss_.mass.size())) {
      loss_.mass[static_cast<std::size_t>(index)] += gathered_;
    }
  }

 private:
  void start(std::int64_t at) {
    started_ = true;
    at_ = at;
    first_ = at;
    loss_.first = origin_ + static_cast<double>(at) * step_;
    scale_ = std::exp(loss());
    factor_ = std::exp(step_);
  }
  double loss() const { return origin_ + static_cast<double>(at_) * step_; }
  double surplus(double p, double q) const {
    return loss() < kLargestExponent ? p - q * scale_ : p - scaled(q, loss());
  }
  void close() {
    loss_.mass.push_back(gathered_);
    gathered_ = 0;
    gathered_q_ = 0;
    lack_ = 0;
  }
  bool advance() {
    if (loss_.mass.size() > kLongest) return false;
    ++at_;
    scale_ = (at_ - first_) % 32 == 0 ? std::exp(loss()) : scale_ * factor_;
    return true;
  }

  static constexpr std::size_t kLongest = std::size_t{1} << 26;
  // A group this little above its lattice point, in relative terms, counts as complete: it is
  // lowered by as much.
  static constexpr double kBalance = 3e-14;
  double origin_;
  double step_;
  DiscreteLoss& loss_;
  bool started_ = false;
  std::int64_t at_ = 0;
  std::int64_t first_ = 0;
  double scale_ = 1;
  double factor_ = 1;
  double gathered_ = 0;    // P mass of the group
  double gathered_q_ = 0;  // Q mass of the group since it lacked something
  double lack_ = 0;        // e^loss Q - P of the group, >= 0
};

// Cells of a Poisson-subsampled Gaussian under add/remove, counted from the infimum: there
// e^y = (1-q)/q (e^{ih} - 1) at edge i for y = log N_1/N_0, without cancellation, and one
// exponential a cell gives both masses.
class SubsampledCells {
 public:
  SubsampledCells(const LossPair& pair, const Lattice& lattice, LossCells& cells)
      : pair_(pair), lattice_(lattice), cells_(cells), sigma_(pair.sigma()), rate_(pair.rate()) {
    log_odds_ = std::log1p(-rate_) - std::log(rate_);
  }

  // Cell 0 begins at edge `start`; what lies below edge 0, the infimum, belongs to the first cell.
  void fill(std::size_t start, std::size_t count) {
    start_ = start;
    double from = start == 0 ? -kInfinity : edge(start);  // z = x / sigma of the edges
    first_edge_ = from * sigma_;
    for (std::size_t i = 0; i < count; ++i) {
      const double to = edge(start + i + 1);
      const double width = to - from;
      const double middle = 0.5 * (from + to);
      const double reach = width * (1 + std::max(std::abs(middle), std::abs(middle - 1 / sigma_)));
      if (reach < kShortCell) {
        set(i, middle, width, normal_cell(middle, width, reach),
            normal_cell(middle - 1 / sigma_, width, reach));
      } else {
        pair_.cell_mass(from * sigma_, to * sigma_, cells_.p[i], cells_.q[i], cells_.doubt[i]);
      }
      from = to;
    }
    last_edge_ = from * sigma_;
  }

  double first_edge() const { return first_edge_; }
  double last_edge() const { return last_edge_; }

 private:
  double edge(std::size_t i) const { return sigma_ * (log_odds_ + lattice_.log_growth(i)) + 0.5 / sigma_; }
  void set(std::size_t i, double middle, double width, double zero, double one) {
    constexpr double kPeak = 0.3989422804014327;  // 1 / sqrt(2 pi)
    const double half_square = 0.5 * middle * middle;
    const double mass = width * kPeak * std::exp(-half_square);
    cells_.q[i] = mass * zero;
    cells_.p[i] = (1 - rate_) * mass * (zero + lattice_.mean_growth(start_ + i) * one);
    const double exponent =
        std::abs(log_odds_) + std::abs(lattice_.log_growth(start_ + i + 1)) + 1 / (sigma_ * sigma_);
    cells_.doubt[i] = 1e-15 * (2 + half_square) + 4e-16 * exponent;
  }

  const LossPair& pair_;
  const Lattice& lattice_;
  LossCells& cells_;
  double sigma_;
  double rate_;
  double log_odds_ = 0;
  std::size_t start_ = 0;
  double first_edge_ = 0;
  double last_edge_ = 0;
};

}  // namespace

void Lattice::restart(double step) {
  step_ = step;
  growth_.clear();
  log_growth_.clear();
  mean_growth_.clear();
}

void Lattice::reach(std::size_t from, std::size_t to) {
  if (!growth_.empty() && from >= start_ && to < start_ + growth_.size()) return;
  // joined to what is there
  if (!growth_.empty() && from <= start_ + growth_.size() && to + 1 >= start_) {
    from = std::min(from, start_);
    to = std::max(to, start_ + growth_.size() - 1);
  }
  start_ = from;
  growth_.resize(to - from + 1);
  log_growth_.resize(growth_.size());
  mean_growth_.resize(growth_.size());
  for (std::size_t k = 0; k < growth_.size(); ++k) {
    growth_[k] = std::expm1(static_cast<double>(from + k) * step_);
    log_growth_[k] = std::log(growth_[k]);
    if (k == 0) continue;
    const double product = growth_[k - 1] * growth_[k];
    // The product of two large ones overflows long before either.
    mean_growth_[k - 1] =
        product < kInfinity ? std::sqrt(product) : std::sqrt(growth_[k - 1]) * std::sqrt(growth_[k]);
  }
}

double lattice_anchor(const LossPair& pair) { return std::isfinite(pair.infimum()) ? pair.infimum() : 0.0; }

void loss_cells(const LossPair& pair, Lattice& lattice, double tail, LossCells& cells) {
  const double step = lattice.step();
  cells.step = step;
  const double anchor = lattice_anchor(pair);
  const double top_point = pair.p_upper_point(tail);
  const double top = std::isfinite(top_point) ? pair.loss(top_point) : pair.supremum();
  double bottom = pair.loss(pair.q_lower_point(tail));
  if (std::isfinite(pair.infimum())) bottom = std::max(bottom, anchor);
  const double from = std::floor((bottom - anchor) / step);
  const double to = std::max(from + 1, std::ceil((top - anchor) / step));
  const auto count = static_cast<std::size_t>(to - from);
  cells.first = anchor + from * step;
  cells.p.resize(count);
  cells.q.resize(count);
  cells.doubt.resize(count);
  double lowest = -kInfinity;
  double highest = kInfinity;
  const bool subsampled = pair.noise() == Noise::gaussian && !pair.symmetric() && pair.rate() < 1;
  if (subsampled && top - anchor < kLargestExponent) {
    const auto start = static_cast<std::size_t>(from);
    lattice.reach(start, start + count);
    SubsampledCells filled(pair, lattice, cells);
    filled.fill(start, count);
    lowest = filled.first_edge();
    highest = filled.last_edge();
  } else {
    std::vector<double> edges(count + 1);
    for (std::size_t i = 0; i <= count; ++i) {
      edges[i] = pair.inverse(anchor + (from + static_cast<double>(i)) * step);
    }
    // Rounding may put the first edge a hair above the infimum; all mass there belongs to the first
    // cell.
    if (std::isfinite(pair.infimum()) && from == 0) edges[0] = -kInfinity;
    if (std::isfinite(pair.supremum())) edges[count] = kInfinity;
    for (std::size_t i = 1; i <= count; ++i) edges[i] = std::max(edges[i], edges[i - 1]);
    for (std::size_t i = 0; i < count; ++i) {
      pair.cell_mass(edges[i], edges[i + 1], cells.p[i], cells.q[i], cells.doubt[i]);
    }
    lowest = edges[0];
    highest = edges[count];
  }
  cells.p_above = pair.p_above(highest);
  cells.q_above = pair.q_above(highest);
  cells.p_below = pair.p_below(lowest);
  cells.q_below = pair.q_below(lowest);
}

void exchange(LossCells& cells) {
  cells.first = -(cells.first + static_cast<double>(cells.p.size()) * cells.step);
  std::swap(cells.p, cells.q);
  std::reverse(cells.p.begin(), cells.p.end());
  std::reverse(cells.q.begin(), cells.q.end());
  std::reverse(cells.doubt.begin(), cells.doubt.end());
  std::swap(cells.p_above, cells.q_below);
  std::swap(cells.q_above, cells.p_below);
}

// The share of a cell's P mass that goes to its upper end keeps both masses:
// (1 - (q/p) e^{lower end}) / (1 - e^{-step}). The rounding of p and q is added to it.
void discrete_upper(const LossCells& cells, DiscreteLoss& loss) {
  const std::size_t count = cells.p.size();
  loss.first = cells.first;
  loss.step = cells.step;
  loss.infinite = cells.p_above;
  loss.mass.resize(count + 1);
  const double per_fall = -1 / std::expm1(-cells.step);
  ExpSequence growing(1, cells.step, cells.first);
  double carried = cells.p_below;
  double total = cells.p_below + cells.p_above;
  for (std::size_t i = 0; i < count; ++i) {
    const double p = cells.p[i];
    const double lower = cells.first + static_cast<double>(i) * cells.step;
    const double factor = growing.next();
    const double level = lower < kLargestExponent ? cells.q[i] * factor : scaled(cells.q[i], lower);
    const double high = (p - level + (cells.doubt[i] + exponential_doubt(lower)) * p) * per_fall;
    const double share = std::min(p, std::max(high, 0.0));
    loss.mass[i] = carried + (p - share);
    carried = share;
    total += p;
  }
  loss.mass[count] = carried;
  // An upper bound has all of P's mass. Where some was lost, or is no number, nothing is promised.
  if (!(total > 1 - kLostMass)) {
    loss.mass.assign(count + 1, 0);
    loss.mass[0] = 1;
    loss.infinite = 1;
  }
}

void discrete_lower(const LossCells& cells, int coarsening, DiscreteLoss& loss) {
  loss.step = cells.step * coarsening;
  loss.infinite = 0;
  loss.mass.clear();
  loss.mass.reserve(cells.p.size() / static_cast<std::size_t>(coarsening) + 4);
  // If the loss piles up, one cell holds nearly all mass: its loss is made a lattice point.
  const auto heaviest =
      static_cast<std::size_t>(std::max_element(cells.p.begin(), cells.p.end()) - cells.p.begin());
  const auto doubt = [&](std::size_t i) {
    return cells.doubt[i] + exponential_doubt(cells.first + static_cast<double>(i) * cells.step);
  };
  const auto down = [&](std::size_t i) { return cells.p[i] * (1 - doubt(i)); };
  const auto up = [&](std::size_t i) { return cells.q[i] * (1 + doubt(i)); };
  const double origin = std::log(down(heaviest)) - std::log(up(heaviest)) - 1e-14;
  loss.first = origin;
  Gatherer gatherer(origin, loss.step, loss);
  for (std::size_t i = 0; i < cells.p.size(); ++i) {
    // P mass may be left out; Q mass may not, except with all P mass of its cell. A mass that
    // underflowed would stand for a loss without end.
    const bool exact = cells.p[i] > 1e-300 && cells.q[i] > 1e-300 && cells.doubt[i] < 0.5;
    if (exact) gatherer.take(down(i), up(i));
  }
  gatherer.finish();
}

}  // namespace hyfreedp::accounting
