#include "harness/accounting/loss_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/accounting/normal.h"
#include "harness/base/result.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-15;

// log(1 - q + q e^y), accurate relative to its own size near y = 0 and for q near 0 and 1.
double log_mixture(double q, double y) {
  if (q == 1) return y;
  if (y > 30) return y + std::log(q) + std::log1p((1 - q) / q * std::exp(-y));
  const double excess = q * std::expm1(y);
  return excess > -0.5 ? std::log1p(excess) : std::log((1 - q) + q * std::exp(y));
}

// The y with log_mixture(q, y) = loss; -inf below log(1 - q).
double log_mixture_inverse(double q, double loss) {
  if (q == 1) return loss;
  const double scaled = std::expm1(loss) / q;  // e^y - 1
  if (scaled <= -1) return -kInfinity;
  if (loss > 30) return loss + std::log1p(-(1 - q) * std::exp(-loss)) - std::log(q);
  // Near the infimum 1 + scaled cancels; the difference to it is formed from the two losses
  // instead.
  if (scaled < -0.5) return std::log(std::expm1(loss - std::log1p(-q)) * (1 - q) / q);
  return std::log1p(scaled);
}

double mass_between(const Tails& from, const Tails& to) {
  double mass = 0;
  if (to.below <= 0.5) {
    mass = to.below - from.below;
  } else if (from.above <= 0.5) {
    mass = from.above - to.above;
  } else {
    mass = 1 - from.below - to.above;
  }
  return std::max(mass, 0.0);
}

// log(e^a + e^b).
double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger == -kInfinity ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// The Gaussian's mass of a cell around z, both in units of its standard deviation.
CellMass short_cell(double z, double width) {
  constexpr double kPeak = 0.3989422804014327;  // 1 / sqrt(2 pi)
  const double half_square = 0.5 * z * z;
  return {width * kPeak * std::exp(-half_square) * normal_cell(z, width, width * (1 + std::abs(z))),
          kRounding * (2 + half_square)};
}

}  // namespace

LossPair::LossPair(const Mechanism& mechanism, Neighbouring neighbouring)
    : noise_(mechanism.noise),
      rate_(mechanism.sample_rate),
      sigma_(mechanism.noise_multiplier),
      replace_(neighbouring == Neighbouring::replace_one),
      infimum_(-kInfinity),
      supremum_(kInfinity) {
  if (replace_ && rate_ == 1) {  // distance 2 is distance 1 at half the noise
    replace_ = false;
    sigma_ /= 2;
  }
  HYFREEDP_CHECK(!(replace_ && noise_ == Noise::laplace), "subsampled Laplace under replace-one");
  if (!replace_) infimum_ = noise_ == Noise::laplace ? log_mixture(rate_, -1 / sigma_) : std::log1p(-rate_);
  if (noise_ == Noise::laplace) supremum_ = log_mixture(rate_, 1 / sigma_);
}

double LossPair::loss(double x) const {
  if (noise_ == Noise::laplace) return log_mixture(rate_, (2 * std::clamp(x, 0.0, 1.0) - 1) / sigma_);
  const double variance = sigma_ * sigma_;
  const double upper = log_mixture(rate_, (2 * x - 1) / (2 * variance));
  return replace_ ? upper - log_mixture(rate_, (-2 * x - 1) / (2 * variance)) : upper;
}

double LossPair::excess(double x) const {
  if (noise_ == Noise::laplace) return rate_ * std::expm1((2 * std::clamp(x, 0.0, 1.0) - 1) / sigma_);
  const double variance = sigma_ * sigma_;
  if (!replace_) return rate_ * std::expm1((2 * x - 1) / (2 * variance));
  // (p - q) / q with the common (1-q) N_0 cancelled on paper: e^{a} - e^{-b} = e^{(a-b)/2} 2
  // sinh((a+b)/2).
  const double numerator = rate_ * std::exp(-1 / (2 * variance)) * 2 * std::sinh(x / variance);
  return numerator / std::exp(log_mixture(rate_, (-2 * x - 1) / (2 * variance)));
}

double LossPair::inverse(double loss) const {
  if (loss < infimum_) return -kInfinity;
  if (loss >= supremum_) return kInfinity;
  if (noise_ == Noise::laplace) {
    return std::clamp((sigma_ * log_mixture_inverse(rate_, loss) + 1) / 2, 0.0, 1.0);
  }
  const double variance = sigma_ * sigma_;
  if (!replace_) return variance * log_mixture_inverse(rate_, loss) + 0.5;
  // The inverse x solves, with t = e^{x / variance} and c = e^{-1 / (2 variance)},
  //   q c t^2 - (1-q)(e^loss - 1) t - e^loss q c = 0.
  // It is computed for |loss| and mirrored, in logarithms:
  //   t = e^loss (half + sqrt(half^2 + e^-loss (q c)^2)) / (q c).
  const double size = std::abs(loss);
  const double half = (1 - rate_) * -std::expm1(-size) / 2;
  const double log_edge = std::log(rate_) - 1 / (2 * variance);  // log(q c)
  const double log_half = half > 0 ? std::log(half) : -kInfinity;
  const double log_product = log_edge - size / 2;
  const double larger = std::max(log_half, log_product);
  if (larger == -kInfinity) return loss >= 0 ? kInfinity : -kInfinity;
  const double first = std::exp(log_half - larger);
  const double second = std::exp(log_product - larger);
  double log_root = larger + std::log(first + std::hypot(first, second)) - log_edge + size;
  // Near zero loss the root is near 1 and its logarithm is an inverse hyperbolic sine.
  if (first < 0.5 * second) log_root = size / 2 + std::asinh(first / second);
  return loss >= 0 ? variance * log_root : -variance * log_root;
}

Tails LossPair::tails(double x, double centre) const {
  if (x == kInfinity) return {1, 0};
  if (x == -kInfinity) return {0, 1};
  const double z = (x - centre) / sigma_;
  const double tail = noise_ == Noise::gaussian ? normal_tail(std::abs(z)) : 0.5 * std::exp(-std::abs(z));
  return z > 0 ? Tails{1 - tail, tail} : Tails{tail, 1 - tail};
}

void LossPair::cell_mass(double from, double to, double& p, double& q, double& doubt) const {
  const CellMass zero = noise_mass(from, to, 0);
  const CellMass one = noise_mass(from, to, 1);
  const CellMass minus = replace_ ? noise_mass(from, to, -1) : CellMass{};
  p = (1 - rate_) * zero.mass + rate_ * one.mass;
  q = replace_ ? (1 - rate_) * zero.mass + rate_ * minus.mass : zero.mass;
  doubt = zero.doubt + one.doubt + minus.doubt;
}

CellMass LossPair::noise_mass(double from, double to, double centre) const {
  if (noise_ == Noise::gaussian && std::isfinite(from) && std::isfinite(to)) {
    const double width = (to - from) / sigma_;
    const double z = (from + 0.5 * (to - from) - centre) / sigma_;
    if (width * (1 + std::abs(z)) < kShortCell) return short_cell(z, width);
  }
  const Tails low = tails(from, centre);
  const Tails high = tails(to, centre);
  const double mass = mass_between(low, high);
  const double tail = std::min(low.below, low.above) + std::min(high.below, high.above);
  return {mass, mass > 0 ? kRounding * (1 + tail / mass) : 1.0};
}

CellMass LossPair::gain_above(double x) const {
  if (!std::isfinite(x)) return {};
  const double width = replace_ ? 2 : 1;
  const double middle = replace_ ? x : x - 0.5;
  CellMass cell;
  if (noise_ == Noise::gaussian && width / sigma_ * (1 + std::abs(middle / sigma_)) < kShortCell) {
    cell = short_cell(middle / sigma_, width / sigma_);  // x + 1 need not be a double
  } else {
    cell = noise_mass(x - 1, replace_ ? x + 1 : x, 0);
  }
  return {rate_ * cell.mass, cell.doubt};
}

double LossPair::p_above(double x) const {
  return (1 - rate_) * tails(x, 0).above + rate_ * tails(x, 1).above;
}

double LossPair::q_above(double x) const {
  return replace_ ? (1 - rate_) * tails(x, 0).above + rate_ * tails(x, -1).above : tails(x, 0).above;
}

double LossPair::p_below(double x) const {
  return (1 - rate_) * tails(x, 0).below + rate_ * tails(x, 1).below;
}

double LossPair::q_below(double x) const {
  return replace_ ? (1 - rate_) * tails(x, 0).below + rate_ * tails(x, -1).below : tails(x, 0).below;
}

double LossPair::log_tail(double z) const {
  if (z == kInfinity) return -kInfinity;
  if (z == -kInfinity) return 0;
  if (noise_ == Noise::gaussian) return log_normal_tail(z);
  return z > 0 ? -std::log(2) - z : std::log1p(-0.5 * std::exp(z));
}

double LossPair::log_q_above(double x) const {
  const double zero = log_tail(x / sigma_);
  return replace_ ? log_sum(std::log1p(-rate_) + zero, std::log(rate_) + log_tail((x + 1) / sigma_)) : zero;
}

double LossPair::log_p_below(double x) const {
  return log_sum(std::log1p(-rate_) + log_tail(-x / sigma_), std::log(rate_) + log_tail((1 - x) / sigma_));
}

double LossPair::p_upper_point(double mass) const {
  if (noise_ == Noise::laplace) return kInfinity;
  const double near_one = mass / (2 * rate_);
  const double first = near_one < 0.5 ? 1 + sigma_ * normal_tail_inverse(near_one) : 1.0;
  return rate_ == 1 ? first : std::max(first, sigma_ * normal_tail_inverse(std::min(mass / 2, 0.5)));
}

double LossPair::q_lower_point(double mass) const {
  if (noise_ == Noise::laplace) return -kInfinity;
  if (!replace_) return -sigma_ * normal_tail_inverse(std::min(mass, 0.5));
  return -p_upper_point(mass);
}

}  // namespace hyfreedp::accounting
