#include "harness/accounting/inversion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>

#include "harness/accounting/one_step.h"
#include "harness/base/wide.h"

namespace hyfreedp::accounting {
namespace {

using Number = std::complex<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTurn = 2 * std::numbers::pi;
// Of log delta, for an epsilon of one over theta: how far the bounds may lie apart through cells,
// and how far smoothing may move each.
constexpr double kCellAim = 1e-4;
constexpr double kSmoothAim = 3e-5;
constexpr double kFinestEpsilon = 1e-7;  // smaller ones are not resolved finer in absolute terms
constexpr double kAliased = 1e-6;        // of delta
constexpr double kHidden = 5e-7;         // of delta: the mass of all tails that are cut off
constexpr double kUnseen = 1e-5;         // of delta: what is charged in place of a sum
constexpr double kReach = 7.5;           // of the smoothing's Gaussian factor, at the last term
constexpr double kSlack = 0.25;          // over theta: as far from the plan an answer is taken
constexpr double kFar = 2;               // over theta: the first plan missed
constexpr double kRareTilt = 3;          // tilt times the largest rare loss beyond epsilon
constexpr int kRounds = 8;
constexpr std::size_t kMostWithRare = 16;
constexpr std::size_t kMany = 200;  // from here on cells are four times as coarse in variance
constexpr double kMostWork = 1e9;   // terms times cells
constexpr std::size_t kBlock = 64;  // terms between two exact phases
constexpr std::size_t kMostCells = 1 << 14;
constexpr double kLost = 1e-19;  // tilted mass of atoms that are left out
constexpr double kSmallest = 1e-300;
constexpr double kLargestExponent = 600;      // beyond it: products in logarithms
constexpr double kMultiplied = 64 * 1.3e-15;  // error of a block's last phase: 1.2e-15 a product

// A cell of a mechanism's noise as one direction sees it: P and Q mass, and losses from `low` to
// `high`. `gap` is what the two bounds of its part of M(theta) differ by, relative to M(theta).
struct Cell {
  double from = 0;
  double to = 0;
  double low = 0;
  double high = 0;
  double p = 0;
  double q = 0;
  double doubt = 0;
  double top = 0;     // upper bound: P mass at `high`; the rest is at `low`
  double centre = 0;  // lower bound: the loss of the cell
  double gap = 0;
};

// Point masses, tilted and normalised, as turns of the window.
struct Atoms {
  std::vector<double> weights = {};
  std::vector<std::uint64_t> turns = {};
  double log_normaliser = 0;  // log M(theta)
  double log_up = 0;          // log M(theta + up_rate)
  double doubt = 0;           // of M(theta + i t) / M(theta)
  double most = 0;            // largest size of a loss
  double mass = 0;            // untilted
};

// Losses and the logarithms of their masses.
struct Masses {
  std::vector<double> losses = {};
  std::vector<double> logs = {};
  void add(double loss, double mass) {
    if (mass <= 0) return;  // what is no number is kept, and makes the bound infinite
    losses.push_back(loss);
    logs.push_back(std::log(mass));
  }
};

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

// The part of a turn of the window that `loss` is, in units of 2^-64.
std::uint64_t turns_of(double loss, double window) {
  double part = loss / window;
  part -= std::nearbyint(part);
  if (part >= 0.5) part -= 1;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ldexp(part, 64)));
}
double angle_of(std::uint64_t turns) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(turns)), -64) * kTurn;
}

Atoms atoms_of(const Masses& masses, double theta, double up_rate, double window) {
  constexpr double kExponent = 5e-16;  // of its parts' sizes: what rounding adds to an exponent
  Atoms atoms;
  double of_exponents = 0;
  atoms.log_normaliser = log_sum_of(masses, theta);
  atoms.log_up = log_sum_of(masses, theta + up_rate);
  for (std::size_t i = 0; i < masses.losses.size(); ++i) {
    const double weight = std::exp(masses.logs[i] + theta * masses.losses[i] - atoms.log_normaliser);
    atoms.most = std::max(atoms.most, std::abs(masses.losses[i]));
    atoms.mass += std::exp(masses.logs[i]);
    of_exponents += weight * (std::abs(masses.logs[i]) + std::abs(theta * masses.losses[i]) +
                              std::abs(atoms.log_normaliser));
    if (weight < kLost / static_cast<double>(masses.losses.size())) continue;
    atoms.weights.push_back(weight);
    atoms.turns.push_back(turns_of(masses.losses[i], window));
  }
  const auto count = static_cast<double>(atoms.weights.size());
  atoms.doubt = kLost + kMultiplied + 2e-16 * (count / 4 + 8) + kExponent * of_exponents;
  return atoms;
}

// One mechanism's cells, halved where that narrows the bounds most.
class Cells {
 public:
  // `log_normaliser` is log M(theta), as an estimate. The cells reach up to where P has `tail`.
  Cells(const Member& member, Direction direction, double theta, double log_normaliser, double tail)
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
  // The rare losses between two tails of P, fine around `epsilon`.
  Cells(const Member& member, double common, double tail, double epsilon, double finest)
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

  double gap() const {
    double sum = 0;
    for (const auto& one : cells_) sum += one.gap;
    return std::min(count_ * sum, 1e300);
  }
  std::size_t size() const { return cells_.size(); }

  void halve(double most) {
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

  // What the upper bound charges at infinite loss, a use.
  double infinite() const {
    if (cells_.empty() || cells_.back().to == kInfinity) return 0;
    return add_ ? 0 : pair_.p_above(cells_.back().to);
  }

  Masses upper() const {
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

  Masses lower() const {
    Masses masses;
    for (const auto& one : cells_) {
      if (one.doubt < 0.5) masses.add(one.centre, one.p * (1 - one.doubt));
    }
    return masses;
  }

 private:
  void fill(const std::vector<double>& edges) {
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) cells_.push_back(cell(edges[i], edges[i + 1]));
  }
  double loss(double x) const {
    if (x == -kInfinity) return pair_.infimum();
    return x == kInfinity ? pair_.supremum() : pair_.loss(x);
  }

  Cell cell(double from, double to) const {
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

  LossPair pair_;
  double count_;
  bool add_;
  double theta_;
  double log_normaliser_;
  bool is_part_ = false;
  std::vector<Cell> cells_ = {};
  std::vector<Cell> halved_ = {};
};

// The sum of re + i im in four strands, so that vectors do not change its bits; then one turn.
HYFREEDP_WIDE void advance(double* __restrict re, double* __restrict im, const double* __restrict turn_re,
                           const double* __restrict turn_im, std::size_t size, double* __restrict sum) {
  double sum_re[4] = {0, 0, 0, 0};
  double sum_im[4] = {0, 0, 0, 0};
  std::size_t n = 0;
  for (; n + 4 <= size; n += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      sum_re[k] += re[n + k];
      sum_im[k] += im[n + k];
    }
  }
  for (; n < size; ++n) {
    sum_re[0] += re[n];
    sum_im[0] += im[n];
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double turned = re[i] * turn_re[i] - im[i] * turn_im[i];
    im[i] = re[i] * turn_im[i] + im[i] * turn_re[i];
    re[i] = turned;
  }
  sum[0] = (sum_re[0] + sum_re[1]) + (sum_re[2] + sum_re[3]);
  sum[1] = (sum_im[0] + sum_im[1]) + (sum_im[2] + sum_im[3]);
}

// One mechanism's phases, taken further block by block.
class Phases {
 public:
  explicit Phases(Atoms atoms) : atoms_(std::move(atoms)) {
    const std::size_t size = atoms_.weights.size();
    turn_re_.resize(size);
    turn_im_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      turn_re_[i] = std::cos(angle_of(atoms_.turns[i]));
      turn_im_[i] = std::sin(angle_of(atoms_.turns[i]));
    }
  }
  const Atoms& atoms() const { return atoms_; }

  // M(theta + i t) / M(theta) at the block's terms.
  void block(std::size_t first, Number* values) {
    const std::size_t size = atoms_.weights.size();
    re_.resize(size);
    im_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const double angle = angle_of(static_cast<std::uint64_t>(first) * atoms_.turns[i]);
      re_[i] = atoms_.weights[i] * std::cos(angle);
      im_[i] = atoms_.weights[i] * std::sin(angle);
    }
    for (std::size_t k = 0; k < kBlock; ++k) {
      double sum[2];
      advance(re_.data(), im_.data(), turn_re_.data(), turn_im_.data(), size, sum);
      values[k] = {sum[0], sum[1]};
    }
  }

 private:
  Atoms atoms_;
  std::vector<double> turn_re_ = {};
  std::vector<double> turn_im_ = {};
  std::vector<double> re_ = {};
  std::vector<double> im_ = {};
};

// A mechanism's part of a sum: its common losses, and the rare ones if exactly one is to be among
// the losses of the composition.
struct Part {
  double count = 0;
  Phases common;
  std::optional<Phases> rare = {};
};

enum class Side { upper, lower };

// What a sum is over: see the head of inversion.h.
struct SumPlan {
  double theta = 1;
  double up_rate = 1;
  double window = 1;
  double eta = 1;
  double gaussian = 0;  // sum of 1 / sigma^2 of the Gaussians that are priced exactly
};

struct Value {
  double delta = 0;
  double derivative = 0;  // in epsilon
};

// The sum over terms of one bound, ready for every epsilon near the plan's.
class Sum {
 public:
  Sum(Side side, const SumPlan& plan, std::vector<Part>& parts, bool one_rare) : side_(side), plan_(plan) {
    double most = 0;
    double at_rare = 0;
    double up_rare = 0;
    double rare_mass = 0;
    for (const auto& one : parts) {
      const auto& atoms = one.common.atoms();
      log_normaliser_ += one.count * atoms.log_normaliser;
      log_up_ += one.count * atoms.log_up;
      most += one.count * atoms.most;
      if (!one_rare || !one.rare) continue;
      const auto& rare = one.rare->atoms();
      scales_.push_back(one.count * std::exp(rare.log_normaliser - atoms.log_normaliser));
      at_rare += scales_.back();
      up_rare += one.count * std::exp(rare.log_up - atoms.log_up);
      most += rare.most;
      rare_mass += one.count * rare.mass;
    }
    shift_ = 3e-16 * most;
    if (one_rare) {
      is_unknown_ = std::isnan(at_rare);
      if (!(at_rare > 0)) return;
      for (auto& scale : scales_) scale /= at_rare;
      mass_ = std::min(1.0, rare_mass);
      log_normaliser_ += std::log(at_rare);
      log_up_ += std::log(up_rare);
    }
    const double up = plan_.theta + plan_.up_rate;
    log_up_ += 0.5 * plan_.gaussian * up * (up + 1);
    log_normaliser_ += 0.5 * squares() * plan_.theta * (plan_.theta + 1);
    trace(parts, one_rare);
  }

  // Bounds delta(epsilon).
  Value at(double epsilon) const {
    const bool upper = side_ == Side::upper;
    if (is_unknown_ && upper) return {kInfinity, 0};
    if (terms_.empty()) return {};
    const double moved = upper ? epsilon - shift_ : epsilon + shift_;
    const std::uint64_t turns = turns_of(moved, plan_.window);
    const Number turn = std::polar(1.0, -angle_of(turns));
    double sum = 0;
    double derivative = 0;
    Number phase;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      if (k % kBlock == 0) phase = std::polar(k == 0 ? 0.5 : 1.0, -angle_of(k * turns));
      const Number term = terms_[k] * phase;
      sum += term.real();
      derivative += term.imag() * step() * static_cast<double>(k) - term.real() * plan_.theta;
      phase *= turn;
      if (k == 0) phase *= 2;
    }
    const double scale = std::exp(log_normaliser_ - plan_.theta * moved) * 2 / plan_.window;
    Value value{scale * (sum + (upper ? charge_ : -charge_)), scale * derivative};
    if (upper) {
      value.delta = std::isnan(value.delta) ? kInfinity : std::max(0.0, value.delta) * (1 + 1e-10);
      return value;
    }
    if (std::isnan(value.delta)) return {};
    const double beyond = log_up_ - (plan_.theta + plan_.up_rate) * moved;
    value.delta = std::max(0.0, value.delta * (1 - 1e-10) - below_ -
                                    std::exp(beyond) / std::expm1(plan_.up_rate * plan_.window));
    return value;
  }

 private:
  double step() const { return kTurn / plan_.window; }
  double squares() const { return plan_.gaussian + plan_.eta * plan_.eta; }

  // The terms from `first` on, relative to M(theta), and bounds of their errors.
  struct Block {
    explicit Block(std::size_t at) : first(at) {}
    std::size_t first;
    Number log_power[kBlock] = {};
    double log_size[kBlock] = {};  // of what bounds the size of the true and of the computed value
    double doubt[kBlock] = {};     // relative to that bound
    Number value[kBlock] = {};
    double error[kBlock] = {};
    void multiply(const Number* values, double count, double error_of_values) {
      for (std::size_t k = 0; k < kBlock; ++k) {
        const double size = std::abs(values[k]) + error_of_values;
        log_power[k] += count * std::log(values[k]);
        log_size[k] += count * std::log(size);
        doubt[k] += count * error_of_values / size;
      }
    }
  };

  static void product(std::vector<Part>& parts, Block& now) {
    Number values[kBlock];
    bool nothing = false;
    for (auto& one : parts) {
      one.common.block(now.first, values);
      now.multiply(values, one.count, one.common.atoms().doubt);
      nothing = *std::max_element(now.log_size, now.log_size + kBlock) < -60;
      if (nothing) break;  // the other factors are at most 1, up to their doubt
    }
    for (std::size_t k = 0; k < kBlock; ++k) {
      const double size = std::exp(now.log_size[k]);
      if (!nothing) now.value[k] = std::exp(now.log_power[k]);
      now.error[k] = size * (nothing ? 1.01 : now.doubt[k] + 1e-14);
    }
  }

  // The same with one common loss of one mechanism replaced by a rare one, summed over mechanisms.
  void with_one_rare(std::vector<Part>& parts, Block& now) const {
    std::vector<std::array<Number, kBlock>> values(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].common.block(now.first, values[i].data());
      now.multiply(values[i].data(), parts[i].count, parts[i].common.atoms().doubt);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].rare) continue;
      Number jumps[kBlock];
      parts[i].rare->block(now.first, jumps);
      const double scale = scales_[next++];
      const double doubt = parts[i].common.atoms().doubt;
      const double error = parts[i].rare->atoms().doubt;
      for (std::size_t k = 0; k < kBlock; ++k) {
        now.value[k] += scale * std::exp(now.log_power[k] - std::log(values[i][k])) * jumps[k];
        const double size = std::exp(now.log_size[k] - std::log(std::abs(values[i][k]) + doubt));
        now.error[k] += scale * size * ((std::abs(jumps[k]) + error) * (now.doubt[k] + 1e-14) + error);
      }
    }
  }

  void trace(std::vector<Part>& parts, bool one_rare) {
    const double eta = plan_.eta;
    const double theta = plan_.theta;
    const auto blocks = static_cast<std::size_t>(std::ceil(kReach / eta / step() / double(kBlock))) + 1;
    below_ = mass_ / std::expm1(theta * plan_.window);
    terms_.assign(blocks * kBlock, 0);
    const double correction = side_ == Side::upper ? 0 : eta * eta * std::exp(eta * eta / 8);
    double sizes = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      Block now(block * kBlock);
      for (std::size_t k = 0; k < kBlock; ++k) {
        const double t = step() * static_cast<double>(now.first + k);
        now.log_size[k] = -0.5 * squares() * t * t;
        now.log_power[k] = {now.log_size[k], 0.5 * squares() * t * (2 * theta + 1)};
      }
      if (one_rare) {
        with_one_rare(parts, now);
      } else {
        product(parts, now);
      }
      for (std::size_t k = 0; k < kBlock; ++k) {
        const Number s(theta, step() * static_cast<double>(now.first + k));
        const Number kernel = 1.0 / (s * (s + 1.0)) - correction;
        terms_[now.first + k] = now.value[k] * kernel;
        charge_ += now.error[k] * std::abs(kernel);
        const double gaussian_phase = 0.5 * squares() * s.imag() * (2 * theta + 1);
        charge_ += std::abs(terms_[now.first + k]) * 4e-16 * gaussian_phase;
        sizes += std::abs(terms_[now.first + k]);
      }
    }
    const auto count = static_cast<double>(terms_.size());
    charge_ += sizes * (2e-16 * count + kMultiplied);
    // Beyond the last term: at most the integral of the smoothing's factor times the kernel's size.
    const double last = step() * (count - 1);
    charge_ += std::exp(-0.5 * eta * eta * last * last) / (eta * eta * last) *
               (1 / (last * last) + correction) / step();
  }

  Side side_;
  SumPlan plan_;
  double log_normaliser_ = 0;
  double log_up_ = 0;
  double mass_ = 1;  // untilted, at most
  double below_ = 0;
  double shift_ = 0;
  double charge_ = 0;
  bool is_unknown_ = false;  // a mass was no number
  std::vector<double> scales_ = {};
  std::vector<Number> terms_ = {};
};

// Two bounds that add up: exactly the common losses, and one rare loss among them.
class Bounds {
 public:
  Value at(Side side, double epsilon) const {
    const bool upper = side == Side::upper;
    if (epsilon < lowest) return {upper ? 1.0 : 0.0, 0};
    Value value{upper ? charge : 0.0, 0};
    for (const auto& sum : upper ? above : below) {
      const Value one = sum.at(epsilon);
      value.delta += one.delta;
      value.derivative += one.derivative;
    }
    return value;
  }
  double charge = 0;           // on the upper bound
  double lowest = -kInfinity;  // below it the charge is too small
  std::vector<Sum> above = {};
  std::vector<Sum> below = {};
};

// An epsilon at which the bound is `delta`, on the safe side; nothing where none is found. Newton's
// method between the points seen on either side, at most `most` at a time.
std::optional<double> solve(const Bounds& bounds, Side side, double epsilon, double delta, double most) {
  constexpr double kNear = 1e-6;
  double low = -kInfinity;
  double high = kInfinity;
  for (int i = 0; i < 100; ++i) {
    const Value value = bounds.at(side, epsilon);
    if (std::isnan(value.delta)) return std::nullopt;
    const double missed = value.delta > 0 ? std::log(value.delta / delta) : -kInfinity;
    const bool safe = side == Side::upper ? missed <= 0 : missed >= 0;
    if (safe && std::abs(missed) < kNear) return epsilon;
    (missed > 0 ? low : high) = epsilon;
    if (high - low < 1e-9 * std::abs(high)) return side == Side::upper ? high : low;
    // A little beyond the root, on the safe side.
    const double slope = value.derivative / value.delta;
    const double aim = missed + (side == Side::upper ? 0.5 : -0.5) * kNear;
    double next = std::isfinite(missed) && slope < 0 ? epsilon + std::clamp(aim / -slope, -most, most)
                                                     : epsilon + (missed > 0 ? most : -most);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    epsilon = next;
  }
  return std::nullopt;
}

// One direction of one question.
class Inversion {
 public:
  Inversion(std::vector<Member>& members, Direction direction, const Question& question)
      : members_(members), direction_(direction), question_(question) {
    for (const auto& member : members_) uses_ += member.count;
  }

  std::optional<Bracket> solve() {
    auto found = with_all_losses();
    if (!found && direction_ == Direction::remove) found = with_rare_losses();
    return found;
  }

 private:
  static Bracket unknown(const Question& question) { return {question.delta ? kInfinity : 1.0, 0}; }

  // Takes the bounds' answer at the planned epsilon into `best`; nothing where there is none.
  // Returns the epsilon that the next plan should be about, or -1 if this one was near enough.
  std::optional<double> take(const Bounds& bounds, double planned, double slack, Bracket& best) const {
    if (question_.epsilon) {
      best.upper = std::min(best.upper, bounds.at(Side::upper, planned).delta);
      best.lower = std::max(best.lower, bounds.at(Side::lower, planned).delta);
      return -1;
    }
    const double delta = *question_.delta;
    if (planned < slack && bounds.at(Side::upper, 0).delta <= delta) {
      best = {0, 0};
      return -1;
    }
    const auto above = accounting::solve(bounds, Side::upper, planned, delta, 8 * slack);
    if (!above) return std::nullopt;
    best.upper = std::min(best.upper, std::max(0.0, *above));
    const auto below = accounting::solve(bounds, Side::lower, *above, delta, 8 * slack);
    if (below) best.lower = std::max(best.lower, *below);
    if (below && std::abs(*above - planned) < slack) return -1;
    return std::max(0.0, *above);
  }

  std::optional<Bracket> with_all_losses() {
    Bracket best = unknown(question_);
    Question target = question_;
    double hidden = question_.delta.value_or(1e-20);
    for (int i = 0; i < kRounds; ++i) {
      const double tail = std::max(1e-290, hidden * kHidden / uses_);
      place_nodes(members_, tail);
      Saddle saddle = find_saddle(members_, direction_, target);
      // A question of delta is about an epsilon of at least 0.
      if (question_.delta && saddle.epsilon < 0) saddle = find_saddle(members_, direction_, {{}, 0.0});
      const double planned = target.epsilon.value_or(std::max(saddle.epsilon, 0.0));
      Bounds bounds;
      const double rise = question_.epsilon ? 1 : saddle.theta * std::max(planned, kFinestEpsilon);
      if (!sums_at(saddle, planned, question_.delta ? std::log(*question_.delta) : saddle.log_delta, rise,
                   tail, true, bounds)) {
        return std::nullopt;
      }
      const auto next = take(bounds, planned, kSlack / saddle.theta, best);
      if (!next) return std::nullopt;
      if (question_.epsilon && hidden > 3 * best.upper && best.upper > 1e-250) {
        hidden = best.upper;
        continue;
      }
      if (*next < 0) return best;
      // A saddle point that is far from the answer: the moments are those of rare losses.
      if (i == 0 && std::abs(*next - planned) > kFar / saddle.theta) return std::nullopt;
      target = {{}, *next};
    }
    return best;
  }

  // Adds the sums over the losses up to where P has `tail`.
  bool sums_at(const Saddle& saddle, double epsilon, double log_delta, double rise, double tail, bool charged,
               Bounds& bounds) {
    const double low = epsilon - 2 * kSlack / saddle.theta;
    const Extent extent = extent_for(members_, direction_, saddle, log_delta + std::log(kAliased), low, 0);
    if (!std::isfinite(extent.length)) return false;
    SumPlan plan{extent.theta, extent.up_rate, extent.length};
    for (const double relaxed : {1.0, 4.0, 16.0, 64.0}) {
      if (members_.size() > kMany && relaxed < 2) continue;
      plan.eta = smoothing(relaxed * rise, plan.theta);
      auto cells = common_cells(plan, tail, relaxed * rise);
      if (too_much(plan, cells)) continue;
      for (const Side side : {Side::upper, Side::lower}) {
        std::vector<Part> parts = parts_of(cells, plan, side);
        (side == Side::upper ? bounds.above : bounds.below).emplace_back(side, plan, parts, false);
      }
      for (std::size_t i = 0; charged && i < cells.size(); ++i)
        bounds.charge += counts_[i] * cells[i].infinite();
      return true;
    }
    return false;
  }

  static double smoothing(double rise, double theta) {
    return std::sqrt(2 * kSmoothAim * rise / (theta * (theta + 1)));
  }

  // Many mechanisms together leave only the first terms.
  static bool too_much(const SumPlan& plan, const std::vector<Cells>& cells) {
    double size = 0;
    for (const auto& one : cells) size += static_cast<double>(one.size());
    if (cells.size() > 16) size *= 16 / static_cast<double>(cells.size());
    return kReach / plan.eta * plan.window / kTurn * size > kMostWork;
  }

  std::vector<Part> parts_of(const std::vector<Cells>& cells, const SumPlan& plan, Side side) const {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Masses masses = side == Side::upper ? cells[i].upper() : cells[i].lower();
      parts.push_back({counts_[i], Phases(atoms_of(masses, plan.theta, plan.up_rate, plan.window))});
    }
    return parts;
  }

  // Cells of every mechanism's losses up to where P has `tail`; full-batch Gaussians go to the
  // plan.
  std::vector<Cells> common_cells(SumPlan& plan, double tail, double rise) {
    std::vector<Cells> cells;
    counts_.clear();
    plan.gaussian = 0;
    for (const auto& member : members_) {
      const double theta = plan.theta;
      if (is_exact(member)) {
        plan.gaussian += member.count / (member.pair.sigma() * member.pair.sigma());
        continue;
      }
      const double order = direction_ == Direction::add ? -theta : theta + 1;
      cells.emplace_back(member, direction_, theta, tilted_loss(member.nodes, order).log_normaliser, tail);
      counts_.push_back(member.count);
    }
    refine(cells, kCellAim * rise);
    return cells;
  }

  static bool is_exact(const Member& member) {
    return member.pair.noise() == Noise::gaussian && member.pair.rate() == 1;
  }

  // Until the bounds of log M(theta) lie within `aim`, or rounding keeps them apart.
  static void refine(std::vector<Cells>& cells, double aim) {
    double last = kInfinity;
    for (int i = 0; i < 60; ++i) {
      double gap = 0;
      std::size_t count = 0;
      for (const auto& one : cells) {
        gap += one.gap();
        count += one.size();
      }
      if (gap <= aim || (i > 20 && gap > 0.98 * last)) return;
      if (count > kMostCells + 256 * cells.size()) return;
      last = gap;
      for (auto& one : cells) one.halve(0.7 * std::min(gap, aim) / static_cast<double>(count));
    }
  }

  // delta(eps) of one step of each use, added up; its slope is that of delta where rare losses
  // decide.
  double of_single_losses(double epsilon) const {
    double sum = 0;
    for (const auto& member : members_) {
      if (!is_exact(member)) sum += member.count * one_step_delta(member.pair, epsilon).upper;
    }
    return sum;
  }

  std::optional<Bracket> with_rare_losses() {
    Bracket best = unknown(question_);
    if (members_.size() > kMostWithRare) return std::nullopt;
    double epsilon = question_.epsilon.value_or(0);
    if (question_.delta) {
      double low = 0;
      double high = 1;
      while (of_single_losses(high) > *question_.delta && high < 1e6) high *= 2;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (of_single_losses(middle) > *question_.delta ? low : high) = middle;
      }
      epsilon = high;
    }
    double delta = question_.delta.value_or(of_single_losses(epsilon));
    for (int i = 0; i < kRounds; ++i) {
      if (!(delta > 1e-280)) return std::nullopt;
      const double nearby = std::max(epsilon, kFinestEpsilon);
      double theta =
          std::log(of_single_losses(0.99 * nearby) / of_single_losses(1.01 * nearby)) / (0.02 * nearby);
      if (!(theta > 0) || !std::isfinite(theta)) return std::nullopt;
      Bounds bounds;
      if (!rare_sums_at(epsilon, delta, theta, bounds)) return std::nullopt;
      const auto next = take(bounds, epsilon, kSlack / theta, best);
      if (!next) return std::nullopt;
      if (question_.epsilon && delta > 3 * best.upper) {
        delta = best.upper;
        continue;
      }
      if (*next < 0) return best;
      epsilon = *next;
    }
    return best;
  }

  // Losses above a point that one use in all exceeds with probability `rare` are rare: two of
  // them are charged as an infinite loss, and the sums are over none and over one. The latter's
  // tilt is small against the largest loss, which would decide everything otherwise.
  bool rare_sums_at(double epsilon, double delta, double slope, Bounds& bounds) {
    const double rare = std::sqrt(2 * kUnseen * delta);
    const double common_tail = rare / uses_;
    const double tail = std::max(1e-290, kUnseen * delta / uses_);
    bounds.charge = 0.5 * rare * rare + std::max(kUnseen * delta, tail * uses_);
    place_nodes(members_, common_tail);
    double largest = 0;
    for (const auto& member : members_) {
      if (!is_exact(member)) largest = std::max(largest, member.pair.loss(member.pair.p_upper_point(tail)));
    }
    if (!(largest > 1.01 * epsilon)) return false;
    if (!none_rare(epsilon, delta, common_tail, bounds)) return false;
    const double rise = question_.epsilon ? 1 : slope * std::max(epsilon, kFinestEpsilon);
    SumPlan plan;
    plan.theta = kRareTilt / (largest - epsilon);
    plan.up_rate = 2 * plan.theta;
    const double decades = std::log(rare / delta) - std::log(kAliased);
    plan.window = std::max(decades / plan.theta, largest - epsilon + (kRareTilt + decades) / plan.up_rate);
    plan.eta = smoothing(rise, slope);
    SumPlan steep = plan;
    steep.theta = slope;  // the common losses matter as far as they move epsilon
    auto cells = common_cells(steep, common_tail, rise);
    plan.gaussian = steep.gaussian;
    std::vector<Cells> jumps;
    for (const auto& member : members_) {
      if (!is_exact(member)) jumps.emplace_back(member, common_tail, tail, epsilon, plan.eta);
    }
    if (too_much(plan, cells) || too_much(plan, jumps)) return false;
    for (const Side side : {Side::upper, Side::lower}) {
      auto parts = parts_of(cells, plan, side);
      for (std::size_t i = 0; i < jumps.size(); ++i) {
        const Masses masses = side == Side::upper ? jumps[i].upper() : jumps[i].lower();
        if (masses.losses.empty()) continue;
        parts[i].rare.emplace(atoms_of(masses, plan.theta, plan.up_rate, plan.window));
      }
      (side == Side::upper ? bounds.above : bounds.below).emplace_back(side, plan, parts, true);
    }
    return true;
  }

  // The sums over compositions without a rare loss: where they have next to nothing, Chernoff's
  // inequality stands in for them.
  bool none_rare(double epsilon, double delta, double tail, Bounds& bounds) {
    const Saddle saddle = find_saddle(members_, direction_, {{}, epsilon});
    const double theta = saddle.theta;
    SumPlan plan{.theta = theta};
    double log_bound = 0;
    const auto cells = common_cells(plan, tail, 0.1 / kCellAim);
    for (std::size_t i = 0; i < cells.size(); ++i)
      log_bound += counts_[i] * log_sum_of(cells[i].upper(), theta);
    log_bound += 0.5 * plan.gaussian * theta * (theta + 1);
    const double at_low = log_bound - theta * (epsilon - kSlack / theta);
    const double factor = theta * std::log(theta) - (theta + 1) * std::log1p(theta);
    if (at_low + factor < std::log(kUnseen * delta)) {
      bounds.charge += kUnseen * delta;
      bounds.lowest = epsilon - kSlack / theta;
      return true;
    }
    const double rise = question_.epsilon ? 1 : theta * std::max(epsilon, kFinestEpsilon);
    return sums_at(saddle, epsilon, std::log(delta), rise, tail, false, bounds);
  }

  std::vector<Member>& members_;
  Direction direction_;
  Question question_;
  double uses_ = 0;
  std::vector<double> counts_ = {};  // of the members that have cells
};

// Whether delta in this direction stays below the question's answer so far, a lower bound in
// another direction; nodes that are placed for the question are assumed.
bool is_below(const std::vector<Member>& members, Direction direction, const Question& question,
              double lower) {
  if (!(lower > 0)) return false;
  const double epsilon = question.epsilon.value_or(lower);
  const double log_target = std::log(question.delta.value_or(lower));
  const Saddle saddle = find_saddle(members, direction, {{}, epsilon});
  return stays_below(members, direction, saddle.theta, epsilon, log_target);
}

}  // namespace

std::optional<Bracket> inversion_bracket(std::vector<Member> members, const Question& question) {
  Bracket bracket;
  for (const auto direction : directions_of(members)) {
    // Adding a record rarely decides.
    if (direction == Direction::add && is_below(members, direction, question, bracket.lower)) continue;
    const auto one = Inversion(members, direction, question).solve();
    if (!one) return std::nullopt;
    bracket.upper = std::max(bracket.upper, one->upper);
    bracket.lower = std::max(bracket.lower, one->lower);
  }
  return bracket;
}

}  // namespace hyfreedp::accounting
