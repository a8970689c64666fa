// The sum that inverts a moment generating function: a part of inversion.h, whose head says what it
// is and what of its errors is charged.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/accounting/inversion_cells.h"

namespace hyfreedp::accounting {

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

// `window`: SumPlan::window.
Atoms atoms_of(const Masses& masses, double theta, double up_rate, double window);

// One mechanism's phases, taken further block by block.
class Phases {
 public:
  static constexpr std::size_t kBlock = 64;  // terms between two exact phases

  explicit Phases(Atoms atoms);
  const Atoms& atoms() const { return atoms_; }
  // M(theta + i t) / M(theta) at the kBlock terms from `first` on.
  void block(std::size_t first, std::complex<double>* values);

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

// The terms of a sum: see the head of inversion.h.
struct SumPlan {
  double theta = 1;
  double up_rate = 1;
  double window = 1;
  double eta = 1;
  double gaussian = 0;  // sum of 1 / sigma^2 of the Gaussians that are priced exactly

  double terms() const;  // about as many, before blocks are filled
};

struct Value {
  double delta = 0;
  double derivative = 0;  // in epsilon
};

// The sum over terms of one bound, ready for every epsilon near the plan's.
class Sum {
 public:
  Sum(Side side, const SumPlan& plan, std::vector<Part>& parts, bool one_rare);
  // Bounds delta(epsilon).
  Value at(double epsilon) const;

 private:
  struct Block;
  double step() const;
  double squares() const { return plan_.gaussian + plan_.eta * plan_.eta; }
  static void product(std::vector<Part>& parts, Block& now);
  // The same with one common loss of one mechanism replaced by a rare one, summed over mechanisms.
  void with_one_rare(std::vector<Part>& parts, Block& now) const;
  void trace(std::vector<Part>& parts, bool one_rare);

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
  std::vector<std::complex<double>> terms_ = {};
};

}  // namespace hyfreedp::accounting
