#include "harness/accounting/pld.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/accounting/exp_sequence.h"
#include "harness/base/result.h"
#include "harness/base/wide.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Spectrum values whose square is below this are set to zero: it keeps subnormal numbers, which are
// slow, away.
constexpr double kFlushed = 1e-150;
// Bounds what a sum of up to 4 million terms may have lost to the smallest double, 5e-324.
constexpr double kUnderflow = 1e-315;

// product *= base^count, element by element, by repeated squaring; base is destroyed. The relative
// error of a power is at most `count` times that of the base and of one complex product (5e-16)
// together.
HYFREEDP_WIDE void multiply_power(double* __restrict product_re, double* __restrict product_im,
                                  double* __restrict base_re, double* __restrict base_im, std::size_t size,
                                  std::uint64_t count) {
  while (true) {
    if (count & 1) {
      for (std::size_t k = 0; k < size; ++k) {
        const double re = product_re[k] * base_re[k] - product_im[k] * base_im[k];
        const double im = product_re[k] * base_im[k] + product_im[k] * base_re[k];
        const bool keep = re * re + im * im > kFlushed;
        product_re[k] = keep ? re : 0.0;
        product_im[k] = keep ? im : 0.0;
      }
    }
    count >>= 1;
    if (count == 0) return;
    for (std::size_t k = 0; k < size; ++k) {
      const double re = base_re[k] * base_re[k] - base_im[k] * base_im[k];
      const double im = 2 * base_re[k] * base_im[k];
      const bool keep = re * re + im * im > kFlushed;
      base_re[k] = keep ? re : 0.0;
      base_im[k] = keep ? im : 0.0;
    }
  }
}

HYFREEDP_WIDE void scale_all(double* __restrict values, std::size_t size, double factor) {
  for (std::size_t i = 0; i < size; ++i) values[i] *= factor;
}

}  // namespace

RealFft& Workbench::fft(std::size_t size) {
  auto& transform = transforms[size];
  if (!transform) transform = std::make_unique<RealFft>(size);
  return *transform;
}

std::vector<double> Workbench::take(std::size_t size, double value) {
  std::vector<double> memory;
  if (!spare.empty()) {
    memory = std::move(spare.back());
    spare.pop_back();
  }
  memory.assign(size, value);
  return memory;
}

void Workbench::give(std::vector<double>&& memory) { spare.push_back(std::move(memory)); }

Composition::Composition(const LossWindow& window, double step, Bound bound, Workbench& bench)
    : window_(window), step_(step), bound_(bound), bench_(bench) {
  HYFREEDP_CHECK(window.theta > 0, "composition");
  product_.re = bench.take(window.size / 2 + 1, 1);
  product_.im = bench.take(window.size / 2 + 1, 0);
}

// Leaves the tilted mass, folded onto the window and summing to 1, on the bench; returns the root
// of its sum of squares.
double Composition::tilt(const DiscreteLoss& loss, double count) {
  auto& folded = bench_.mass;
  folded.assign(window_.size, 0);
  const std::size_t points = loss.mass.size();
  const std::size_t mask = window_.size - 1;
  // Weights relative to the top, so that nothing overflows; downwards until they vanish.
  ExpSequence theta(-window_.theta, loss.step);
  ExpSequence upward(-window_.up_rate, loss.step);
  double sum = 0;
  double up = 0;
  for (std::size_t i = points; i-- > 0;) {
    const double weight = theta.next();
    const double at_up = upward.next();
    if (weight < 1e-290) break;
    const double mass = loss.mass[i] * weight;
    sum += mass;
    up += mass * at_up;
    folded[i & mask] += mass;
  }
  scale_all(folded.data(), folded.size(), 1 / sum);
  double squares = 0;
  for (const double mass : folded) squares += mass * mass;
  const double top = loss.first + loss.step * static_cast<double>(points - 1);
  log_normaliser_ += count * (std::log(sum) + window_.theta * top);
  log_up_ += count * (std::log(up / sum) + window_.up_rate * top);
  origin_ += count * loss.first;
  uses_ += count;
  infinite_ += count * loss.infinite;
  return std::sqrt(squares);
}

void Composition::add(const DiscreteLoss& loss, std::int64_t count) {
  const auto uses = static_cast<double>(count);
  const double root = tilt(loss, uses);
  weak_doubt_ += root * uses * std::exp2(1 - uses);
  auto& spectrum = bench_.spectrum;
  bench_.fft(window_.size).forward(bench_.mass, spectrum);
  // Blocks stay in the first-level cache through all squarings.
  constexpr std::size_t kBlock = 512;
  const std::size_t size = window_.size / 2 + 1;
  for (std::size_t k = 0; k < size; k += kBlock) {
    multiply_power(product_.re.data() + k, product_.im.data() + k, spectrum.re.data() + k,
                   spectrum.im.data() + k, std::min(kBlock, size - k), static_cast<std::uint64_t>(count));
  }
}

// The composed tilted masses, on the bench; returns a bound on the error of each.
//
// A value F of one spectrum is off by at most e (with sum of masses 1) and, root mean square over
// k, by e * root. Its power n then is off by n |F|^{n-1} e: at most 2 n |F|^n e where |F| >= 1/2,
// and n 2^{1-n} e elsewhere. The error of a mass is at most the mean over k of the errors of the
// product, in which the other factors are at most 1.
double Composition::invert() {
  const std::size_t size = window_.size;
  const double e = kFftError * (std::log2(static_cast<double>(size)) + 4);
  double norm = 0;
  for (std::size_t k = 0; k <= size / 2; ++k)
    norm += std::sqrt(product_.re[k] * product_.re[k] + product_.im[k] * product_.im[k]);
  norm *= 2 / static_cast<double>(size);
  bench_.fft(size).inverse(product_, bench_.mass);
  bench_.give(std::move(product_.re));
  bench_.give(std::move(product_.im));
  return e * (2 * (uses_ + 1) * norm + weak_doubt_ + norm) * 2 + 1e-60 * uses_;
}

ComposedLoss Composition::finish() {
  const std::size_t size = window_.size;
  const double rounding = invert();
  const auto& mass = bench_.mass;
  ComposedLoss composed;
  composed.bound_ = bound_;
  composed.step_ = step_;
  const auto start = static_cast<std::int64_t>(std::ceil((window_.low - origin_) / step_));
  composed.first_ = origin_ + static_cast<double>(start) * step_;
  const double last = composed.first_ + static_cast<double>(size - 1) * step_;
  const double beyond = std::min(1.0, std::exp(log_up_ - window_.up_rate * last));
  // Mass p at a loss l below the window comes in at l + W with weight p e^{theta l}
  // e^{-theta (l + W)}.
  const double length = window_.theta * step_ * static_cast<double>(size);
  const double from_below = 1 / std::expm1(length);
  const bool upper = bound_ == Bound::upper;
  // All sums are relative to e^{-theta (l - first)}, so that nothing overflows; log_scale restores
  // the size.
  composed.log_scale_ = log_normaliser_ - window_.theta * composed.first_;
  auto& delta = composed.delta_;
  delta = bench_.take(size, 0);
  const std::int64_t n = static_cast<std::int64_t>(size);
  auto place = static_cast<std::size_t>((((start + n - 1) % n) + n) % n);  // of the last point
  const double fall = std::exp(-step_);
  const double rise = -std::expm1(-step_);
  const double theta_step = window_.theta * step_;
  const double kernel = 1 / std::expm1(theta_step) - 1 / std::expm1(theta_step + step_);
  const double error = rounding * kernel;
  double shrink_at_end = std::exp(-theta_step * static_cast<double>(size - 1));
  const double tail = upper ? beyond * shrink_at_end : 0;
  const double charge = upper ? error : -error - beyond;
  double above = 0;     // sum over i > j of mass_i (1 - e^{l_j - l_i})
  double weighted = 0;  // sum over i >= j of mass_i e^{-(l_i - l_j)}
  constexpr std::size_t kRestart = 64;
  const double grow = std::exp(theta_step);
  double shrink = shrink_at_end;
  for (std::size_t j = size; j-- > 0;) {
    if (j % kRestart == kRestart - 1) shrink = std::exp(-theta_step * static_cast<double>(j));
    above += rise * weighted;
    weighted = weighted * fall + mass[place] * shrink;
    delta[j] = above + shrink * charge + tail;
    shrink *= grow;
    place = place == 0 ? size - 1 : place - 1;
  }
  composed.constant_ = upper ? infinite_ : -from_below;
  // A weight that underflowed where it was computed anew is missed until the next restart.
  const bool vanishes = theta_step * static_cast<double>(size) > 690;
  composed.fall_ = theta_step;
  composed.underflow_ =
      vanishes ? kUnderflow * std::exp(theta_step * static_cast<double>(kRestart)) : kUnderflow;
  // delta falls with epsilon, so a bound at one point bounds the points on the one side of it.
  if (upper) {
    for (std::size_t j = 1; j < size; ++j) delta[j] = std::min(delta[j], delta[j - 1]);
  } else {
    for (std::size_t j = size - 1; j-- > 0;) delta[j] = std::max(delta[j], delta[j + 1]);
  }
  return composed;
}

double ComposedLoss::value(std::size_t j) const {
  const double scaled = delta_[j];
  if (bound_ == Bound::lower) {
    const double size = scaled > 0 ? std::exp(log_scale_ + std::log(scaled)) : 0.0;
    const double value = size * (1 - 1e-10) + constant_;
    return value > 0 ? std::min(value, 1.0) : 0.0;
  }
  // A value that is not a number bounds nothing. If sums underflow, Markov's inequality for
  // e^{theta L} bounds delta.
  if (!(scaled < kInfinity) || !(log_scale_ < kInfinity)) return 1;
  const double summed = log_scale_ + std::log(scaled + underflow_);
  const double markov = log_scale_ - fall_ * static_cast<double>(j) + 1e-9 * std::abs(log_scale_);
  const double value = std::exp(std::min(summed, markov)) * (1 + 1e-10) + constant_;
  return value < 1 ? value : 1.0;
}

double ComposedLoss::epsilon(double delta) const {
  // The values do not rise along the lattice: find the first one that meets the target.
  std::size_t low = 0;
  std::size_t high = delta_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (value(middle) <= delta) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == delta_.size()) return bound_ == Bound::upper ? kInfinity : std::max(0.0, first_);
  if (low == 0) return bound_ == Bound::upper ? std::max(0.0, first_) : 0.0;
  const double before = value(low - 1);
  const double after = value(low);
  const double share = std::clamp((before - delta) / (before - after), 0.0, 1.0);
  const double start = first_ + static_cast<double>(low - 1) * step_;
  return std::max(0.0, start + std::log1p(share * std::expm1(step_)));
}

double ComposedLoss::delta(double epsilon) const {
  const double place = (epsilon - first_) / step_;
  const bool upper = bound_ == Bound::upper;
  if (place < 0) return upper ? 1 : value(0);
  const auto j = static_cast<std::size_t>(place);
  if (j + 1 >= delta_.size()) return upper ? value(delta_.size() - 1) : 0;
  const double share = std::expm1((place - static_cast<double>(j)) * step_) / std::expm1(step_);
  return (1 - share) * value(j) + share * value(j + 1);
}

}  // namespace hyfreedp::accounting
