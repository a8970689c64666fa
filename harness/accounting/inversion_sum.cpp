#include "harness/accounting/inversion_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "harness/accounting/turning_sum.h"

namespace hyfreedp::accounting {
namespace {

using Number = std::complex<double>;
constexpr std::size_t kBlock = Phases::kBlock;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTurn = 2 * std::numbers::pi;
// The argument of the smoothing's Gaussian factor at the last term.
constexpr double kReach = 7.5;
constexpr double kLost = 1e-19;  // tilted mass of atoms that are left out
// Error of a block's last phase: 1.2e-15 a product.
constexpr double kMultiplied = 64 * 1.3e-15;

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

}  // namespace

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

Phases::Phases(Atoms atoms) : atoms_(std::move(atoms)) {
  const std::size_t size = atoms_.weights.size();
  turn_re_.resize(size);
  turn_im_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    turn_re_[i] = std::cos(angle_of(atoms_.turns[i]));
    turn_im_[i] = std::sin(angle_of(atoms_.turns[i]));
  }
}

void Phases::block(std::size_t first, std::complex<double>* values) {
  const std::size_t size = atoms_.weights.size();
  re_.resize(size);
  im_.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double angle = angle_of(static_cast<std::uint64_t>(first) * atoms_.turns[i]);
    re_[i] = atoms_.weights[i] * std::cos(angle);
    im_[i] = atoms_.weights[i] * std::sin(angle);
  }
  for (std::size_t k = 0; k < kBlock; ++k) {
    values[k] = sum_and_turn(re_.data(), im_.data(), turn_re_.data(), turn_im_.data(), size);
  }
}

double SumPlan::terms() const { return kReach / eta * window / kTurn; }

Sum::Sum(Side side, const SumPlan& plan, std::vector<Part>& parts, bool one_rare) : side_(side), plan_(plan) {
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

Value Sum::at(double epsilon) const {
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
  value.delta = std::max(
      0.0, value.delta * (1 - 1e-10) - below_ - std::exp(beyond) / std::expm1(plan_.up_rate * plan_.window));
  return value;
}

double Sum::step() const { return kTurn / plan_.window; }

// The terms from `first` on, relative to M(theta), and bounds of their errors.
struct Sum::Block {
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

void Sum::product(std::vector<Part>& parts, Block& now) {
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

void Sum::with_one_rare(std::vector<Part>& parts, Block& now) const {
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

void Sum::trace(std::vector<Part>& parts, bool one_rare) {
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
  // The terms beyond the last are charged: at most the integral of the smoothing's factor times the
  // kernel's size.
  const double last = step() * (count - 1);
  charge_ += std::exp(-0.5 * eta * eta * last * last) / (eta * eta * last) *
             (1 / (last * last) + correction) / step();
}

}  // namespace hyfreedp::accounting
