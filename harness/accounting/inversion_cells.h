// A mechanism's loss, discretized on cells of its noise: a part of inversion.h, whose head says
// what its two bounds are.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/accounting/pld_plan.h"

namespace hyfreedp::accounting {

inline constexpr std::size_t kMostCells = 1 << 14;

// Losses and the logarithms of their masses.
struct Masses {
  std::vector<double> losses = {};
  std::vector<double> logs = {};
  // Does nothing if `mass` is 0. A mass that is no number is kept, and makes the bound infinite.
  void add(double loss, double mass);
};

// The logarithm of the sum of mass e^{order loss}.
double log_sum_of(const Masses& masses, double order);

// One mechanism's cells, halved where that narrows the bounds most.
class Cells {
 public:
  // `log_normaliser` is log M(theta), as an estimate. The cells reach up to where P has `tail`.
  Cells(const Member& member, Direction direction, double theta, double log_normaliser, double tail);
  // The rare losses between two tails of P, fine around `epsilon`.
  Cells(const Member& member, double common, double tail, double epsilon, double finest);

  // The difference of the two bounds of log M(theta), all uses together.
  double gap() const;
  std::size_t size() const { return cells_.size(); }
  // Halves the cells that differ by more than `most`.
  void halve(double most);

  // The mass that the upper bound charges at infinite loss, a use.
  double infinite() const;
  Masses upper() const;
  Masses lower() const;

 private:
  // A cell as one direction sees it: P and Q mass, and losses from `low` to `high`. `gap` is what
  // the two bounds of its part of M(theta) differ by, relative to M(theta).
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

  void fill(const std::vector<double>& edges);
  double loss(double x) const;
  Cell cell(double from, double to) const;

  LossPair pair_;
  double count_;
  bool add_;
  double theta_;
  double log_normaliser_;
  bool is_part_ = false;
  std::vector<Cell> cells_ = {};
  std::vector<Cell> halved_ = {};
};

}  // namespace hyfreedp::accounting
