#include "harness/accounting/pld.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/accounting/fft.h"
#include "harness/base/result.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNegligible = -75;  // a spectrum value below e^-75 is set to zero and counted as an error

struct Tilted {
  std::vector<double> mass;   // folded onto the window, sums to 1
  double log_normaliser = 0;  // log sum of mass e^{theta l}
  double log_up = 0;          // log of the same with theta + up_rate, over the normaliser
};

// Exponential of an arithmetic sequence by products, restarted often enough to stay at rounding level.
class ExpSequence {
 public:
  ExpSequence(double rate, double step) : rate_(rate), step_(step), factor_(std::exp(rate * step)) {}
  double next() {
    if (index_ % 32 == 0) value_ = std::exp(rate_ * step_ * static_cast<double>(index_));
    const double now = value_;
    value_ *= factor_;
    ++index_;
    return now;
  }

 private:
  double rate_;
  double step_;
  double factor_;
  double value_ = 1;
  std::size_t index_ = 0;
};

Tilted tilt(const DiscreteLoss& loss, const LossWindow& window) {
  Tilted tilted;
  tilted.mass.assign(window.size, 0);
  const std::size_t count = loss.mass.size();
  // e^{theta (l - reference)} with the reference at the end that keeps it from overflowing.
  const double span = loss.step * static_cast<double>(count);
  const double steepest = window.theta + window.up_rate;
  const bool from_top = steepest * span > 600;
  const double reference = from_top ? loss.first + loss.step * static_cast<double>(count - 1) : loss.first;
  double sum = 0;
  double up = 0;
  const std::size_t mask = window.size - 1;
  const auto add = [&](std::size_t i, double at_theta, double at_up) {
    const double mass = loss.mass[i] * at_theta;
    sum += mass;
    up += mass * at_up;
    tilted.mass[i & mask] += mass;
  };
  if (from_top) {
    for (std::size_t i = 0; i < count; ++i) {
      const double offset = loss.step * (static_cast<double>(i) - static_cast<double>(count - 1));
      add(i, std::exp(window.theta * offset), std::exp(window.up_rate * offset));
    }
  } else {
    ExpSequence theta(window.theta, loss.step);
    ExpSequence upward(window.up_rate, loss.step);
    for (std::size_t i = 0; i < count; ++i) add(i, theta.next(), upward.next());
  }
  for (auto& mass : tilted.mass) mass /= sum;
  tilted.log_normaliser = std::log(sum) + window.theta * reference;
  tilted.log_up = std::log(up / sum) + window.up_rate * reference;
  return tilted;
}

// log |F| and arg F times the counts, summed over terms.
struct LogSpectrum {
  std::vector<double> magnitude;
  std::vector<double> phase;
};

void accumulate(const std::vector<Complex>& spectrum, double count, LogSpectrum& total) {
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    if (total.magnitude[k] < kNegligible) continue;
    const auto& value = spectrum[k];
    const double square = value.re * value.re + value.im * value.im;
    total.magnitude[k] += square > 0 ? 0.5 * count * std::log(square) : -kInfinity;
    if (total.magnitude[k] < kNegligible) continue;
    total.phase[k] += count * std::atan2(value.im, value.re);
  }
}

}  // namespace

ComposedLoss::ComposedLoss(const std::vector<LossTerm>& terms, const LossWindow& window, Bound bound)
    : bound_(bound) {
  HYFREEDP_CHECK(!terms.empty() && window.theta > 0, "composition");
  invert(terms, window);
}

void ComposedLoss::invert(const std::vector<LossTerm>& terms, const LossWindow& window) {
  const std::size_t size = window.size;
  RealFft fft(size);
  LogSpectrum total{std::vector<double>(size / 2 + 1, 0), std::vector<double>(size / 2 + 1, 0)};
  std::vector<Complex> spectrum;
  step_ = terms.front().loss.step;
  double log_normaliser = 0;
  double log_up = 0;
  double origin = 0;
  double uses = 0;
  double infinite = 0;
  double slack = 0;
  for (const auto& term : terms) {
    const auto count = static_cast<double>(term.count);
    const Tilted tilted = tilt(term.loss, window);
    log_normaliser += count * tilted.log_normaliser;
    log_up += count * tilted.log_up;
    origin += count * term.loss.first;
    uses += count;
    infinite += count * term.loss.infinite;
    slack += count * term.loss.slack;
    fft.forward(tilted.mass, spectrum);
    accumulate(spectrum, count, total);
  }
  // Error of one spectrum value, relative to the largest possible, 1; `count` powers multiply it.
  const double doubt = kFftError * (std::log2(static_cast<double>(size)) + 4) * (uses + 1) * 4;
  double norm = 0;
  spectrum.resize(size / 2 + 1);
  for (std::size_t k = 0; k <= size / 2; ++k) {
    const double magnitude = total.magnitude[k] < kNegligible ? 0 : std::exp(total.magnitude[k]);
    norm += magnitude + std::exp(kNegligible) / std::numeric_limits<double>::epsilon();
    spectrum[k] = {magnitude * std::cos(total.phase[k]), magnitude * std::sin(total.phase[k])};
  }
  // |error of a value| <= (1/n) sum_k |error of spectrum_k|, both halves of the spectrum.
  const double rounding = 2 * norm / static_cast<double>(size) * doubt;
  std::vector<double> mass;
  fft.inverse(spectrum, mass);

  const auto start = static_cast<std::int64_t>(std::ceil((window.low - origin) / step_));
  first_ = origin + static_cast<double>(start) * step_;
  const double last = first_ + static_cast<double>(size - 1) * step_;
  const double beyond = std::min(1.0, std::exp(log_up - window.up_rate * last));
  // Mass p at a loss l below the window comes in at l + W with weight p e^{theta l} e^{-theta (l + W)}.
  const double length = window.theta * step_ * static_cast<double>(size);
  const double from_below = 1 / std::expm1(length);
  const bool upper = bound_ == Bound::upper;
  // All sums are relative to e^{-theta (l - first)}, so that nothing overflows; log_scale restores the size.
  log_scale_ = log_normaliser - window.theta * first_;
  delta_.assign(size, 0);
  const auto place = [&](std::size_t j) {
    auto index = (start + static_cast<std::int64_t>(j)) % static_cast<std::int64_t>(size);
    return static_cast<std::size_t>(index < 0 ? index + static_cast<std::int64_t>(size) : index);
  };
  const double fall = std::exp(-step_);
  const double rise = -std::expm1(-step_);
  const double theta_step = window.theta * step_;
  const double kernel = 1 / std::expm1(theta_step) - 1 / std::expm1(theta_step + step_);
  double above = 0;     // sum over i > j of mass_i (1 - e^{l_j - l_i})
  double weighted = 0;  // sum over i >= j of mass_i e^{-(l_i - l_j)}
  for (std::size_t j = size; j-- > 0;) {
    const double shrink = std::exp(-theta_step * static_cast<double>(j));
    above += rise * weighted;
    weighted = weighted * fall + mass[place(j)] * shrink;
    const double error = shrink * rounding * kernel;
    if (upper) {
      const double tail = beyond * std::exp(-theta_step * static_cast<double>(size - 1));
      delta_[j] = above + error + tail;
    } else {
      delta_[j] = above - error - shrink * beyond;
    }
    if (j == size / 2) relative_error_ = (error + shrink * beyond) / std::max(above, 1e-300);
  }
  // A lower loss with slack s may hold 1 + s of mass, so that the slack of n uses grows to n s e^{n s}.
  constant_ = upper ? infinite : -slack * std::exp(std::min(slack, 100.0)) - from_below;
  // delta falls with epsilon, so a bound at one point bounds the points on the one side of it.
  if (upper) {
    for (std::size_t j = 1; j < size; ++j) delta_[j] = std::min(delta_[j], delta_[j - 1]);
  } else {
    for (std::size_t j = size - 1; j-- > 0;) delta_[j] = std::max(delta_[j], delta_[j + 1]);
  }
}

double ComposedLoss::value(std::size_t j) const {
  const double scaled = delta_[j];
  const double size = scaled > 0 ? std::exp(log_scale_ + std::log(scaled)) : 0.0;
  return bound_ == Bound::upper ? std::min(1.0, size * (1 + 1e-10) + constant_)
                                : std::max(0.0, size * (1 - 1e-10) + constant_);
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
