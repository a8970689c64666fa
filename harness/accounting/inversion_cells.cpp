#include "harness/accounting/inversion_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = 1e-300;
constexpr double kLargestExponent = 600;  // beyond it: products in logarithms

}  // namespace

void Masses::add(double loss, double mass) {
  if (mass <= 0) return;
  losses.push_back(loss);
  logs.push_back(std::log(mass));
}

double log_sum_of(const Masses& masses, double order) {
  double largest = -kInfinity;
  for (std::size_t i = 0; i < masses.losses.size(); ++i) {
    largest = std::max(largest, masses.logs[i] + order * masses.losses[i]);
  }
  double sum = 0;
  for (std::size_t i = 0; i < masses.losses.size(); ++i) {
    sum += std::exp(masses.logs[i] + order * masses.losses[i] - largest);
  }
  return largest + std::log(sum);
}

Cells::Cells(const Member& member, Direction direction, double theta, double log_normaliser, double tail)
    : pair_(member.pair),
      count_(member.count),
      add_(direction == Direction::add),
      theta_(theta),
      log_normaliser_(log_normaliser) {
  std::vector<double> edges;
  if (pair_.noise() == Noise::laplace) {
    edges = {-kInfinity, 0, 0.25, 0.5, 0.75, 1, kInfinity};
  } else {
    const double low = pair_.q_lower_point(std::min(tail, 1e-30));
    const double high = pair_.p_upper_point(tail);
    if (std::isfinite(pair_.infimum())) edges.push_back(-kInfinity);
    constexpr int kFirst = 16;
    for (int i = 0; i < kFirst; ++i) edges.push_back(low + (high - low) * i / kFirst);
    edges.push_back(high);  // to the bit: from there on `tail` is charged
  }
  fill(edges);
}

Cells::Cells(const Member& member, double common, double tail, double epsilon, double finest)
    : pair_(member.pair), count_(member.count), add_(false), theta_(0), log_normaliser_(0), is_part_(true) {
  const double from = pair_.p_upper_point(common);
  const double to = pair_.p_upper_point(tail);
  std::vector<double> edges = {from};
  while (edges.back() < to && edges.size() < kMostCells) {
    const double loss = pair_.loss(edges.back());
    const double wide = 0.15 * std::max(0.0, std::abs(epsilon - loss) - 12 * finest);
    double next = pair_.inverse(loss + finest + wide);
    if (!(next > edges.back())) next = edges.back() + 1e-3 * pair_.sigma();
    edges.push_back(std::min(next, to));
  }
  if (edges.back() < to) edges.push_back(to);
  if (edges.size() > 1) fill(edges);
}

double Cells::gap() const {
  double sum = 0;
  for (const auto& one : cells_) sum += one.gap;
  return std::min(count_ * sum, 1e300);
}

void Cells::halve(double most) {
  halved_.clear();
  for (const auto& one : cells_) {
    const double middle =
        std::isfinite(one.from) ? one.from + 0.5 * (one.to - one.from) : one.to - 2 * pair_.sigma();
    if (count_ * one.gap <= most || !(middle > one.from && middle < one.to)) {
      halved_.push_back(one);
      continue;
    }
    halved_.push_back(cell(one.from, middle));
    halved_.push_back(cell(middle, one.to));
  }
  cells_.swap(halved_);
}

double Cells::infinite() const {
  if (cells_.empty() || cells_.back().to == kInfinity) return 0;
  return add_ ? 0 : pair_.p_above(cells_.back().to);
}

Masses Cells::upper() const {
  if (cells_.empty()) return {};
  std::vector<double> mass(cells_.size() + 1, 0.0);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    mass[add_ ? i : i + 1] += cells_[i].top;
    mass[add_ ? i + 1 : i] += cells_[i].p - cells_[i].top;
  }
  // The tails below the lowest loss are raised to it.
  const double first = cells_.front().from;
  const double last = cells_.back().to;
  if (add_ && last < kInfinity) mass.back() += pair_.q_above(last);
  if (!add_ && !is_part_ && first > -kInfinity) mass.front() += pair_.p_below(first);
  Masses masses;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const Cell& beside = cells_[std::min(i, cells_.size() - 1)];
    const bool lowest = add_ == (i == cells_.size());
    masses.add(lowest ? beside.low : beside.high, mass[i]);
  }
  return masses;
}

Masses Cells::lower() const {
  Masses masses;
  for (const auto& one : cells_) {
    if (one.doubt < 0.5) masses.add(one.centre, one.p * (1 - one.doubt));
  }
  return masses;
}

void Cells::fill(const std::vector<double>& edges) {
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) cells_.push_back(cell(edges[i], edges[i + 1]));
}

double Cells::loss(double x) const {
  if (x == -kInfinity) return pair_.infimum();
  return x == kInfinity ? pair_.supremum() : pair_.loss(x);
}

Cells::Cell Cells::cell(double from, double to) const {
  Cell one{.from = from, .to = to, .low = loss(from), .high = loss(to)};
  pair_.cell_mass(from, to, one.p, one.q, one.doubt);
  if (one.q < kSmallest) {  // no exact number: nothing, the doubt of which is 1
    one.doubt = std::max(0.0, one.doubt - (one.q > 0 ? 0 : 1));
    one.q = 0;
  }
  if (add_) {
    std::swap(one.p, one.q);
    const double low = one.low;
    one.low = -one.high;
    one.high = -low;
  }
  one.doubt += 1e-14 + 4e-16 * std::max(std::abs(one.low), std::abs(one.high));
  // A tail's relative error grows with the square of where it begins.
  const double far = std::max(std::isfinite(from) ? std::abs(from) : 0, std::isfinite(to) ? std::abs(to) : 0);
  const double deviations = (far + 1) / pair_.sigma();
  if (pair_.noise() == Noise::gaussian) one.doubt += 4e-16 * deviations * deviations;
  const double width = one.high - one.low;
  const double level =
      one.low < kLargestExponent ? one.q * std::exp(one.low) : std::exp(std::log(one.q) + one.low);
  const double high = (one.p - level + one.doubt * one.p) / -std::expm1(-width);
  one.top = width > 0 && high < one.p ? std::max(high, 0.0) : one.p;
  one.centre = one.low;  // no loss of the cell is below
  if (one.q > 0) one.centre = std::min(one.high, std::log(one.p) - std::log(one.q) - 2 * one.doubt);
  if (!(one.p > 0)) return one;
  const double top = one.top > 0 ? std::exp(theta_ * one.high - log_normaliser_ + std::log(one.top)) : 0;
  const double rest = one.p - one.top;
  const double bottom = rest > 0 ? std::exp(theta_ * one.low - log_normaliser_ + std::log(rest)) : 0;
  const double middle = std::exp(theta_ * one.centre - log_normaliser_ + std::log(one.p));
  one.gap = top + bottom - middle;
  if (!(one.gap < 1e300)) one.gap = 1e300;
  if (one.gap < 0) one.gap = 0;
  return one;
}

}  // namespace hyfreedp::accounting
